package io.afterbay.store.page;

/**
 * A page in memory. Its address is that of the page's bytes; what the page store knows about it
 * lies before.
 *
 * <pre>
 *   -32             -24        -20              -16          -15      -14          -8           0
 *   +---------------+----------+----------------+------------+--------+------------+------------+------
 *   | disk location | page id  | resident index | size class | stream | referenced | stamp      | page
 *   +---------------+----------+----------------+------------+--------+------------+------------+------
 * </pre>
 *
 * {@code disk location}: an intact image in the log, or 0. {@code stamp}: the epoch in which the
 * page was last made ready for change; 0 if it has not changed since it was read from the log.
 */
final class Frame {
    static final int PREFIX_BYTES = 32;

    /**
     * What a frame costs beside its bytes: the prefix, the slot in the list of resident pages,
     * malloc's own.
     */
    static final int OVERHEAD_BYTES = PREFIX_BYTES + 16;

    private Frame() {}

    static long allocate(int pageId, int pageBytes, int stream) {
        long frame = Memory.allocate(PREFIX_BYTES + pageBytes) + PREFIX_BYTES;
        setDisk(frame, 0);
        Memory.putInt(frame - 24, pageId);
        Memory.putByte(frame - 16, PageSize.classOf(pageBytes));
        Memory.putByte(frame - 15, stream);
        Memory.putByte(frame - 14, 1);
        setStamp(frame, 0);
        return frame;
    }

    static void free(long frame) {
        Memory.free(frame - PREFIX_BYTES, PREFIX_BYTES + bytes(frame));
    }

    static int cost(int pageBytes) {
        return OVERHEAD_BYTES + pageBytes;
    }

    static long disk(long frame) {
        return Memory.getLong(frame - 32);
    }

    static void setDisk(long frame, long location) {
        Memory.putLong(frame - 32, location);
    }

    static int pageId(long frame) {
        return Memory.getInt(frame - 24);
    }

    static int residentIndex(long frame) {
        return Memory.getInt(frame - 20);
    }

    static void setResidentIndex(long frame, int index) {
        Memory.putInt(frame - 20, index);
    }

    static int bytes(long frame) {
        return PageSize.bytes(Memory.getByte(frame - 16));
    }

    static int stream(long frame) {
        return Memory.getByte(frame - 15);
    }

    static void reference(long frame) {
        if (Memory.getByte(frame - 14) == 0) {
            Memory.putByte(frame - 14, 1);
        }
    }

    /** Whether it was referenced since the last call. */
    static boolean clearReferenced(long frame) {
        boolean referenced = Memory.getByte(frame - 14) != 0;
        Memory.putByte(frame - 14, 0);
        return referenced;
    }

    static long stamp(long frame) {
        return Memory.getLong(frame - 8);
    }

    static void setStamp(long frame, long epoch) {
        Memory.putLong(frame - 8, epoch);
    }
}
