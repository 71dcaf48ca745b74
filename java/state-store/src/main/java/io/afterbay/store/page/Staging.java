package io.afterbay.store.page;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** A small direct buffer through which one thread passes blocks to and from files. */
final class Staging {
    static final int BYTES = 64 << 10;

    final ByteBuffer buffer;
    private final long address;
    private final CRC32C crc = new CRC32C();

    Staging(int bytes) {
        buffer = ByteBuffer.allocateDirect(bytes);
        address = Memory.addressOf(buffer);
    }

    long address(int position) {
        return address + position;
    }

    void copyIn(long from, int position, int bytes) {
        Memory.copy(from, address + position, bytes);
    }

    void copyOut(int position, long to, int bytes) {
        Memory.copy(address + position, to, bytes);
    }

    int getInt(int position) {
        return Memory.getInt(address + position);
    }

    void putInt(int position, int value) {
        Memory.putInt(address + position, value);
    }

    int checksum(int position, int bytes) {
        crc.reset();
        crc.update(buffer.duplicate().limit(position + bytes).position(position));
        return (int) crc.getValue();
    }
}
