package io.afterbay.flink.incremental;

import io.afterbay.flink.snapshot.SnapshotContent;
import io.afterbay.flink.snapshot.SnapshotWriter;
import io.afterbay.store.io.VerifiedInputStream;
import io.afterbay.store.io.VerifiedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * What an incremental checkpoint consists of. Format: {@code spec/checkpoint-manifest.md}.
 *
 * @param keyGroups of the store that wrote it
 * @param segments of the redo log, in order
 */
record CheckpointManifest(KeyGroupRange keyGroups, Base base, List<LogSegment> segments) {
    private static final byte[] MAGIC = "AFTRCHKP".getBytes(StandardCharsets.US_ASCII);
    private static final int VERSION = 1;

    /** More is damage. */
    private static final int FILES_MAX = 1 << 24;

    static CheckpointManifest of(KeyGroupRange keyGroups, Base base, List<LogSegment> segments) {
        return new CheckpointManifest(keyGroups, base, List.copyOf(segments));
    }

    /** A manifest, and the states behind it, for {@code StateRestore}. */
    record Read(CheckpointManifest manifest, byte[] states) {}

    // ---------------------------------------------------------------- writing

    /** The stream stays open. */
    void write(SnapshotContent<?> states, OutputStream out) throws IOException {
        try (DataOutputStream payload = begin(out)) {
            write(payload);
            SnapshotWriter.writeStates(states.withoutStore(), payload);
        }
    }

    /** For tests: with states that were written before. */
    void write(byte[] states, OutputStream out) throws IOException {
        try (DataOutputStream payload = begin(out)) {
            write(payload);
            payload.write(states);
        }
    }

    private static DataOutputStream begin(OutputStream out) throws IOException {
        DataOutputStream header = new DataOutputStream(out);
        header.write(MAGIC);
        header.writeInt(VERSION);
        return new DataOutputStream(new VerifiedOutputStream(out));
    }

    private void write(DataOutputStream out) throws IOException {
        out.writeInt(keyGroups.getStartKeyGroup());
        out.writeInt(keyGroups.getEndKeyGroup());
        write(base.id(), out);
        out.writeInt(base.segments().size());
        for (Base.Segment segment : base.segments()) {
            out.writeInt(segment.number());
            out.writeUTF(segment.name());
            out.writeLong(segment.bytes());
        }
        out.writeInt(segments.size());
        for (LogSegment segment : segments) {
            write(segment.log(), out);
            out.writeLong(segment.number());
            out.writeLong(segment.bytes());
        }
    }

    private static void write(UUID id, DataOutputStream out) throws IOException {
        out.writeLong(id.getMostSignificantBits());
        out.writeLong(id.getLeastSignificantBits());
    }

    // ---------------------------------------------------------------- reading

    /** Whether the first bytes of a file are those of a manifest. */
    static boolean recognises(byte[] firstBytes) {
        return Arrays.equals(firstBytes, MAGIC);
    }

    static int magicBytes() {
        return MAGIC.length;
    }

    /**
     * @param in just behind the magic; buffered
     * @param source names the file, for messages
     */
    static Read read(InputStream in, String source) throws IOException {
        try {
            int version = new DataInputStream(in).readInt();
            if (version != VERSION) {
                throw new IOException(
                        "it has format %d; this version of the Afterbay backend reads format %d"
                                .formatted(version, VERSION));
            }
            DataInputStream payload = new DataInputStream(new VerifiedInputStream(in));
            return new Read(read(payload), payload.readAllBytes());
        } catch (EOFException e) {
            throw damaged(source, "the file ends too early", e);
        } catch (IOException e) {
            throw damaged(source, String.valueOf(e.getMessage()), e);
        }
    }

    private static IOException damaged(String source, String what, IOException cause) {
        return new IOException(
                "%s: cannot read the manifest of the incremental checkpoint: %s; restore from another checkpoint"
                        .formatted(source, what),
                cause);
    }

    private static CheckpointManifest read(DataInputStream in) throws IOException {
        KeyGroupRange keyGroups = readKeyGroups(in);
        UUID base = readId(in);
        List<Base.Segment> files = new ArrayList<>();
        for (int left = readCount(in); left > 0; left--) {
            files.add(new Base.Segment(in.readInt(), in.readUTF(), in.readLong()));
        }
        List<LogSegment> segments = new ArrayList<>();
        for (int left = readCount(in); left > 0; left--) {
            segments.add(new LogSegment(readId(in), in.readLong(), in.readLong(), null));
        }
        return of(keyGroups, new Base(base, List.copyOf(files)), segments);
    }

    private static KeyGroupRange readKeyGroups(DataInputStream in) throws IOException {
        int first = in.readInt();
        int last = in.readInt();
        if (first < 0 || last < first) {
            throw new IOException("key groups %d to %d are no range".formatted(first, last));
        }
        return new KeyGroupRange(first, last);
    }

    private static int readCount(DataInputStream in) throws IOException {
        int count = in.readInt();
        if (count < 0 || count > FILES_MAX) {
            throw new IOException("a list of %d files".formatted(count));
        }
        return count;
    }

    private static UUID readId(DataInputStream in) throws IOException {
        return new UUID(in.readLong(), in.readLong());
    }
}
