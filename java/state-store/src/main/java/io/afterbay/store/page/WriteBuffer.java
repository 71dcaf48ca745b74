package io.afterbay.store.page;

/** Blocks on their way to one place of one segment file. Guarded by the log's lock. */
final class WriteBuffer {
    final long address;
    final int capacity;
    int used;

    /** Where in {@link #segment} the first byte goes. */
    long offset;

    Segment segment;

    WriteBuffer(int capacity, Segment none) {
        this.capacity = capacity;
        this.address = Memory.allocate(capacity);
        this.segment = none;
    }

    boolean fits(int bytes) {
        return used + bytes <= capacity;
    }

    /** Where the next block goes. */
    long end() {
        return address + used;
    }

    /** Where a byte of the file lies that {@link #holds}. */
    long addressOf(long fileOffset) {
        return address + (fileOffset - offset);
    }

    boolean holds(long fileOffset) {
        return fileOffset >= offset && fileOffset < offset + used;
    }
}
