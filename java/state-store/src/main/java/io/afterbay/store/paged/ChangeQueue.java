package io.afterbay.store.paged;

import java.util.function.LongConsumer;

/** Changes that wait to be written elsewhere, oldest first; as many, and as long, as have room. */
final class ChangeQueue {
    private final int capacity;
    private final long bytesMax;
    private long[] changes = {};
    private int[] lengths = {};
    private int first;
    private int size;
    private long bytes;

    /**
     * @param capacity a power of two; memory is taken at the first change
     * @param bytesMax of all that wait, or a little more
     */
    ChangeQueue(int capacity, long bytesMax) {
        this.capacity = capacity;
        this.bytesMax = bytesMax;
    }

    int size() {
        return size;
    }

    boolean isFull() {
        return size == capacity || bytes > bytesMax;
    }

    /**
     * There must be room.
     *
     * @param length what it will be to write, in bytes
     */
    void add(long change, int length) {
        if (changes.length == 0) {
            changes = new long[capacity];
            lengths = new int[capacity];
        }
        int at = first + size++ & capacity - 1;
        changes[at] = change;
        lengths[at] = length;
        bytes += length;
    }

    /** There must be one. */
    long removeOldest() {
        int at = first;
        first = at + 1 & capacity - 1;
        size--;
        bytes -= lengths[at];
        return changes[at];
    }

    /** Oldest first; they stay. */
    void forEach(LongConsumer consumer) {
        for (int i = 0; i < size; i++) {
            consumer.accept(changes[first + i & capacity - 1]);
        }
    }

    void clear() {
        size = 0;
        bytes = 0;
    }
}
