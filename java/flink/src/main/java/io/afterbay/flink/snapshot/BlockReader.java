package io.afterbay.flink.snapshot;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/** Reads what {@link BlockWriter} wrote. Nothing is handed out before its checksum is verified. */
final class BlockReader {
    private final ByteBuffer block = ByteBuffer.allocate(SnapshotFormat.BLOCK_BYTES).limit(0);
    private final ByteBuffer header = ByteBuffer.allocate(8);
    private final String source;
    private InputStream in = InputStream.nullInputStream();
    private int keyGroup;
    private int number;

    /**
     * @param source names the file, for messages
     */
    BlockReader(String source) {
        this.source = source;
    }

    /** Starts the next key group. */
    void begin(InputStream from, int newKeyGroup) {
        in = from;
        keyGroup = newKeyGroup;
        number = 0;
        block.position(0).limit(0);
    }

    int readByte() throws IOException {
        return readable(1).get() & 0xFF;
    }

    int readShort() throws IOException {
        return readByte() << 8 | readByte();
    }

    long readLong() throws IOException {
        long value = 0;
        for (int i = 0; i < Long.BYTES; i++) {
            value = value << 8 | readByte();
        }
        return value;
    }

    int readVarInt() throws IOException {
        int value = 0;
        for (int shift = 0; shift < 35; shift += 7) {
            int part = readByte();
            value |= (part & 0x7F) << shift;
            if (part < 0x80) {
                return value;
            }
        }
        throw corrupt("a number of more than 32 bits");
    }

    void read(byte[] bytes, int length) throws IOException {
        int at = 0;
        while (at < length) {
            ByteBuffer from = readable(1);
            int part = Math.min(length - at, from.remaining());
            from.get(bytes, at, part);
            at += part;
        }
    }

    private ByteBuffer readable(int bytes) throws IOException {
        if (block.remaining() < bytes && !nextBlock()) {
            throw corrupt("an end in the middle of an entry");
        }
        return block;
    }

    /** Passes over what is left of the key group. */
    void skip() throws IOException {
        boolean more = true;
        while (more) {
            more = nextBlock();
        }
    }

    /** Verifies that the end comes here. */
    void end() throws IOException {
        if (block.hasRemaining() || nextBlock()) {
            throw corrupt("content after the end");
        }
    }

    private boolean nextBlock() throws IOException {
        readFully(header.array(), header.capacity());
        int length = header.clear().getInt();
        int checksum = header.getInt();
        if (length < 0 || length > SnapshotFormat.BLOCK_BYTES) {
            throw corrupt("a block of " + length + " bytes");
        }
        readFully(block.array(), length);
        if (BlockWriter.checksum(keyGroup, number, block.array(), length) != checksum) {
            throw corrupt("a checksum that does not match");
        }
        number++;
        block.position(0).limit(length);
        return length > 0;
    }

    private void readFully(byte[] bytes, int length) throws IOException {
        if (in.readNBytes(bytes, 0, length) < length) {
            throw new EOFException(message("an end of the file"));
        }
    }

    IOException corrupt(String what) {
        return new IOException(message(what));
    }

    private String message(String what) {
        return "%s: key group %d, block %d: found %s. The file is damaged; restore from another checkpoint."
                .formatted(source, keyGroup, number, what);
    }
}
