package io.afterbay.store.page;

/**
 * Where a page's newest image lies in the segment log, packed into a page table entry:
 *
 * <pre>
 *   63       60            31            5           2     0
 *   +--------+-------------+-------------+-----------+-----+
 *   | 0      | segment 29b | offset/16   | size cls  | tag |
 *   +--------+-------------+-------------+-----------+-----+
 * </pre>
 *
 * An entry with tag 0 is an address in memory (a multiple of 16), {@link #ON_DISK} a location, and
 * {@link #FREE} the next free page id.
 */
final class Location {
    static final int ON_DISK = 1;
    static final int FREE = 2;
    private static final int TAG_MASK = 3;
    private static final int OFFSET_BITS = 27;
    static final int ALIGNMENT = 16;

    private Location() {}

    static long of(int segment, long offset, int sizeClass) {
        return (long) segment << (OFFSET_BITS + 5)
                | (offset / ALIGNMENT) << 5
                | (long) sizeClass << 2
                | ON_DISK;
    }

    static boolean isResident(long entry) {
        return (entry & TAG_MASK) == 0;
    }

    static int segment(long location) {
        return (int) (location >>> (OFFSET_BITS + 5));
    }

    static long offset(long location) {
        return (location >>> 5 & (1L << OFFSET_BITS) - 1) * ALIGNMENT;
    }

    static int sizeClass(long location) {
        return (int) (location >>> 2) & 7;
    }

    static long free(int nextPageId) {
        return (long) nextPageId << 2 | FREE;
    }

    static int nextFree(long entry) {
        return (int) (entry >> 2);
    }
}
