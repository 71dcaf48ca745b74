package io.afterbay.flink.snapshot;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Writes the content of key groups as blocks, each with its length and a checksum that covers key
 * group, block number and payload; a block without payload ends the key group.
 */
final class BlockWriter {
    private final ByteBuffer block = ByteBuffer.allocate(SnapshotFormat.BLOCK_BYTES);
    private final ByteBuffer header = ByteBuffer.allocate(8);
    private OutputStream out = OutputStream.nullOutputStream();
    private int keyGroup;
    private int number;

    /** Starts the next key group. */
    void begin(OutputStream to, int newKeyGroup) {
        out = to;
        keyGroup = newKeyGroup;
        number = 0;
        block.clear();
    }

    void writeByte(int value) throws IOException {
        reserve(1);
        block.put((byte) value);
    }

    void writeShort(int value) throws IOException {
        reserve(2);
        block.putShort((short) value);
    }

    void writeLong(long value) throws IOException {
        reserve(8);
        block.putLong(value);
    }

    /** Seven bits a byte, low ones first, the top bit set on all but the last. */
    void writeVarInt(int value) throws IOException {
        int rest = value;
        while ((rest & ~0x7F) != 0) {
            writeByte(rest | 0x80);
            rest >>>= 7;
        }
        writeByte(rest);
    }

    void write(byte[] bytes, int offset, int length) throws IOException {
        int at = offset;
        int left = length;
        while (left > 0) {
            reserve(1);
            int part = Math.min(left, block.remaining());
            block.put(bytes, at, part);
            at += part;
            left -= part;
        }
    }

    private void reserve(int bytes) throws IOException {
        if (block.remaining() < bytes) {
            writeBlock();
        }
    }

    /** Writes what is left, and the end. Leaves the stream open. */
    void end() throws IOException {
        if (block.position() > 0) {
            writeBlock();
        }
        writeBlock();
    }

    private void writeBlock() throws IOException {
        int length = block.position();
        int checksum = checksum(keyGroup, number++, block.array(), length);
        header.clear().putInt(length).putInt(checksum);
        out.write(header.array(), 0, header.capacity());
        out.write(block.array(), 0, length);
        block.clear();
    }

    static int checksum(int keyGroup, int number, byte[] payload, int length) {
        CRC32C crc = new CRC32C();
        crc.update(ByteBuffer.allocate(6).putShort((short) keyGroup).putInt(number).flip());
        crc.update(payload, 0, length);
        return (int) crc.getValue();
    }
}
