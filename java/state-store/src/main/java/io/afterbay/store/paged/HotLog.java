package io.afterbay.store.paged;

import io.afterbay.store.page.Memory;

/**
 * A ring of records in memory: written at the tail, given up at the head, oldest first.
 *
 * <pre>
 *          head                     tail
 *   ........|ooooooooo|yyyyyyyyyyyyy|...........   o: old half, y: young half
 * </pre>
 *
 * A record lies in one piece; what is too short at the end of the ring is filled with a dead one.
 */
final class HotLog {
    private static final int FILLER_BYTES_MIN = 8;

    private final long address;
    private final int capacity;
    private final int unit;
    private int head;
    private int tail;
    private int used;

    /** Of the head. */
    private long firstPosition;

    /**
     * @param capacity a multiple of the unit
     * @param unit a power of two, 8 at least: the lengths of records are multiples of it
     */
    HotLog(long address, int capacity, int unit) {
        this.address = address;
        this.capacity = capacity;
        this.unit = unit;
    }

    /** The length of a record of so many bytes. */
    int round(int bytes) {
        return bytes + unit - 1 & -unit;
    }

    /** Whether so many records of at most {@code recordMax} bytes have room. */
    boolean hasRoom(int records, int recordMax) {
        return capacity - used >= (records + 1) * round(recordMax) + FILLER_BYTES_MIN;
    }

    /** Memory for a record, of a {@link #round}ed length; there must be room. */
    long allocate(int bytes) {
        if (capacity - tail < bytes) {
            fillUp();
        }
        long record = address + tail;
        advance(bytes);
        return record;
    }

    private void fillUp() {
        HotRecord.initDead(address + tail, capacity - tail);
        advance(capacity - tail);
    }

    private void advance(int bytes) {
        used += bytes;
        tail += bytes;
        if (tail == capacity) {
            tail = 0;
        }
    }

    boolean isEmpty() {
        return used == 0;
    }

    long oldest() {
        return address + head;
    }

    /** The next younger record, or 0. */
    long after(long record) {
        int next = (int) (record - address) + HotRecord.bytes(record);
        next = next == capacity ? 0 : next;
        return next == tail ? 0 : address + next;
    }

    /** Gives up the oldest record. */
    void dropOldest() {
        int bytes = Memory.getInt(address + head);
        used -= bytes;
        head += bytes;
        firstPosition += bytes;
        if (head == capacity) {
            head = 0;
        }
    }

    /** Names a record for as long as the ring exists, unlike its address. */
    long position(long record) {
        int behindHead = (int) (record - address) - head;
        return firstPosition + (behindHead < 0 ? behindHead + capacity : behindHead);
    }

    /** Of the oldest record, or of the next one if there is none. */
    long firstPosition() {
        return firstPosition;
    }

    /** Of the next record. */
    long endPosition() {
        return firstPosition + used;
    }

    /** The record of a position, or 0 if it was given up. */
    long at(long position) {
        if (position < firstPosition) {
            return 0;
        }
        long behind = head + position - firstPosition;
        return address + (behind < capacity ? behind : behind - capacity);
    }

    /** Whether more than half of the ring has been written after this record. */
    boolean isOld(long record) {
        int behind = tail - (int) (record - address);
        return (behind <= 0 ? behind + capacity : behind) > capacity / 2;
    }
}
