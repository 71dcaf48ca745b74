package io.afterbay.store.page;

/**
 * Where a page's newest image lies in the segment log, packed into a page table entry:
 *
 * <pre>
 *   63            35            9            5           2     0
 *   +-------------+-------------+------------+-----------+-----+
 *   | segment 29b | offset/16   | units - 1  | size cls  | tag |
 *   +-------------+-------------+------------+-----------+-----+
 * </pre>
 *
 * {@code units} is how much room the page has there, in sixteenths of its size. An entry with tag 0
 * is an address in memory (a multiple of 16), {@link #ON_DISK} a location, and {@link #FREE} the
 * next free page id.
 */
final class Location {
    static final int ON_DISK = 1;
    static final int FREE = 2;
    private static final int TAG_MASK = 3;
    private static final int ALIGNMENT = 16;
    private static final int CLASS_SHIFT = 2;
    private static final int CLASS_MASK = 7;
    private static final int UNITS_SHIFT = 5;
    private static final int UNITS_MASK = 15;
    private static final int OFFSET_SHIFT = 9;
    private static final int OFFSET_BITS = 26;
    private static final int SEGMENT_SHIFT = OFFSET_SHIFT + OFFSET_BITS;

    private Location() {}

    /**
     * @param roomBytes of the page in its block: {@link Block#roomBytes}
     */
    static long of(int segment, long offset, int pageBytes, int roomBytes) {
        int units = roomBytes / PageSize.unitBytes(pageBytes);
        return (long) segment << SEGMENT_SHIFT
                | offset / ALIGNMENT << OFFSET_SHIFT
                | (long) (units - 1) << UNITS_SHIFT
                | (long) PageSize.classOf(pageBytes) << CLASS_SHIFT
                | ON_DISK;
    }

    static boolean isResident(long entry) {
        return (entry & TAG_MASK) == 0;
    }

    static int segment(long location) {
        return (int) (location >>> SEGMENT_SHIFT);
    }

    static long offset(long location) {
        return (location >>> OFFSET_SHIFT & (1L << OFFSET_BITS) - 1) * ALIGNMENT;
    }

    /** Size of the page. */
    static int pageBytes(long location) {
        return PageSize.bytes((int) (location >>> CLASS_SHIFT) & CLASS_MASK);
    }

    /** Size of the whole block. */
    static int blockBytes(long location) {
        int units = ((int) (location >>> UNITS_SHIFT) & UNITS_MASK) + 1;
        return Block.HEADER_BYTES + units * PageSize.unitBytes(pageBytes(location));
    }

    static long free(int nextPageId) {
        return (long) nextPageId << 2 | FREE;
    }

    static int nextFree(long entry) {
        return (int) (entry >> 2);
    }
}
