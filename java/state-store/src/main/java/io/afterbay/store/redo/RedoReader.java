package io.afterbay.store.redo;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads the chunks of one segment file, front to back, and verifies them. */
public final class RedoReader {
    private static final int LENGTH_MAX = Integer.MAX_VALUE - 8;

    private final String name;
    private final DataInputStream in;
    private final byte[] header = new byte[RedoFormat.HEADER_BYTES];
    private byte[] chunk = new byte[RedoLog.CHUNK_BYTES];
    private int length;
    private int blocks;
    private long offset = RedoFormat.HEADER_BYTES;
    private boolean isAtEnd;

    /**
     * Reads the header.
     *
     * @param name of the file, for messages
     * @param in buffered; the caller closes it
     * @throws IOException also if this is not that segment of that log
     */
    public RedoReader(String name, InputStream in, UUID log, long segment) throws IOException {
        this.name = name;
        this.in = new DataInputStream(in);
        try {
            this.in.readFully(header);
        } catch (EOFException e) {
            throw new IOException(name + ": it ends within its header", e);
        }
        String problem = RedoFormat.problem(header, log, segment);
        if (!problem.isEmpty()) {
            throw new IOException(
                    "%s should be segment %d of redo log %s: %s"
                            .formatted(name, segment, log, problem));
        }
    }

    /** Moves to the next chunk; false at the end. */
    public boolean next() throws IOException {
        if (isAtEnd) {
            return false;
        }
        try {
            readBlock();
        } catch (EOFException e) {
            throw damaged("the file ends before its last block", e);
        }
        isAtEnd = length == 0;
        return !isAtEnd;
    }

    private void readBlock() throws IOException {
        length = in.readInt();
        int checksum = in.readInt();
        if (length < 0 || length > LENGTH_MAX) {
            throw damaged("a block of " + length + " bytes", null);
        }
        readPayload();
        if (checksum != RedoFormat.blockChecksum(header, blocks, chunk, length)) {
            throw damaged("checksum mismatch, the block is damaged or misplaced", null);
        }
        blocks++;
        offset += RedoFormat.BLOCK_HEADER_BYTES + (long) length;
    }

    /** In steps, so that a damaged length asks for no more memory than the file has bytes. */
    private void readPayload() throws IOException {
        int read = 0;
        while (read < length) {
            if (read == chunk.length) {
                chunk = Arrays.copyOf(chunk, (int) Math.min(LENGTH_MAX, chunk.length * 2L));
            }
            int step = Math.min(length, chunk.length) - read;
            in.readFully(chunk, read, step);
            read += step;
        }
    }

    private IOException damaged(String what, @Nullable Exception cause) {
        return new IOException(
                "%s: at byte %d: %s; restore from another checkpoint".formatted(name, offset, what),
                cause);
    }

    /** The present chunk, for {@link RedoReplay#apply}; overwritten by the next one. */
    public byte[] chunk() {
        return chunk;
    }

    public int length() {
        return length;
    }
}
