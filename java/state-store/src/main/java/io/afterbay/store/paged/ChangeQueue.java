package io.afterbay.store.paged;

/** Changes that wait to be written elsewhere, oldest first; as many as have room. */
final class ChangeQueue {
    private final int capacity;
    private long[] changes = {};
    private int first;
    private int size;

    /**
     * @param capacity a power of two; memory is taken at the first change
     */
    ChangeQueue(int capacity) {
        this.capacity = capacity;
    }

    int size() {
        return size;
    }

    boolean isFull() {
        return size == capacity;
    }

    /** There must be room. */
    void add(long change) {
        if (changes.length == 0) {
            changes = new long[capacity];
        }
        changes[first + size++ & capacity - 1] = change;
    }

    /** There must be one. */
    long removeOldest() {
        long oldest = changes[first];
        first = first + 1 & capacity - 1;
        size--;
        return oldest;
    }

    void clear() {
        size = 0;
    }
}
