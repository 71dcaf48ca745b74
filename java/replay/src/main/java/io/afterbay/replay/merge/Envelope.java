package io.afterbay.replay.merge;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * Rows on their way to the merge, and what it keeps, as bytes.
 *
 * <pre>
 *   length of key (int) | topic, 0, key | offset (long) | row
 * </pre>
 *
 * <p>Keys travel as strings of Latin-1, a character for each byte, since Flink compares arrays by
 * identity.
 */
public final class Envelope {
    /** The offset of a row that is yet to be written. */
    private static final long UNWRITTEN = -1;

    private static final int SIZE_START = 256;

    private Envelope() {}

    /** A row of the replay. */
    public static byte[] of(OutputRow row, Resolver resolver) throws IOException {
        byte[] key = resolver.key(row);
        if (key == null) {
            throw new MergeImpossibleException(
                    "the job has made a row for topic '%s' that has no key: nothing tells which row of the live job it is in conflict with. Give the sink a key, or the replay an output of its own"
                            .formatted(row.topic()));
        }
        return of(new LogRow(row, UNWRITTEN), key);
    }

    /** A row of the log; empty if it has no key, and so is in no conflict, whoever wrote it. */
    public static Optional<byte[]> of(LogRow read, Resolver resolver) throws IOException {
        byte[] key = resolver.key(read.row());
        return key == null ? Optional.empty() : Optional.of(of(read, key));
    }

    private static byte[] of(LogRow read, byte[] key) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(SIZE_START);
        byte[] topic = read.row().topic().getBytes(StandardCharsets.ISO_8859_1);
        out.writeInt(topic.length + 1 + key.length);
        out.write(topic);
        out.writeByte(0);
        out.write(key);
        out.writeLong(read.offset());
        read.row().write(out);
        return out.getCopyOfBuffer();
    }

    /** Of the state of the merge. */
    static final class ByKey implements KeySelector<byte[], String> {
        private static final long serialVersionUID = 1;

        @Override
        public String getKey(byte[] envelope) throws IOException {
            DataInputDeserializer in = new DataInputDeserializer(envelope);
            int length = in.readInt();
            return new String(envelope, Integer.BYTES, length, StandardCharsets.ISO_8859_1);
        }
    }

    static LogRow open(byte[] envelope) throws IOException {
        DataInputDeserializer in = new DataInputDeserializer(envelope);
        int length = in.readInt();
        in.skipBytesToRead(length);
        long offset = in.readLong();
        return new LogRow(OutputRow.read(in), offset);
    }

    /** A row that the merge writes. */
    static byte[] written(OutputRow row) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(SIZE_START);
        row.write(out);
        return out.getCopyOfBuffer();
    }

    /** What the merge has written, for the sink. */
    public static OutputRow row(byte[] written) throws IOException {
        return OutputRow.read(new DataInputDeserializer(written));
    }

    static byte[] state(KeyMerge merge) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(SIZE_START);
        merge.write(out);
        return out.getCopyOfBuffer();
    }

    static KeyMerge merge(byte[] state) throws IOException {
        return KeyMerge.read(new DataInputDeserializer(state));
    }
}
