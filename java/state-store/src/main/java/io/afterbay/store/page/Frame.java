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
 * {@code referenced}: since the clock's hand passed; and whether it was read ahead and not used
 * yet.
 */
final class Frame {
    static final int PREFIX_BYTES = 32;

    /**
     * What a frame costs beside its bytes: the prefix, the slot in the list of resident pages,
     * malloc's own.
     */
    static final int OVERHEAD_BYTES = PREFIX_BYTES + 16;

    private static final int REFERENCED = 1;
    private static final int READ_AHEAD = 2;

    private Frame() {}

    static long allocate(int pageId, int pageBytes, int stream) {
        long frame = Memory.allocate(PREFIX_BYTES + pageBytes) + PREFIX_BYTES;
        setDisk(frame, 0);
        Memory.putInt(frame - 24, pageId);
        Memory.putByte(frame - 16, PageSize.classOf(pageBytes));
        Memory.putByte(frame - 15, stream);
        Memory.putByte(frame - 14, REFERENCED);
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
        if (Memory.getByte(frame - 14) != REFERENCED) {
            Memory.putByte(frame - 14, REFERENCED);
        }
    }

    /** Whether it was referenced since the last call. */
    static boolean clearReferenced(long frame) {
        int flags = Memory.getByte(frame - 14);
        Memory.putByte(frame - 14, flags & ~REFERENCED);
        return (flags & REFERENCED) != 0;
    }

    /** It was read before anybody needs it, which {@link #reference} ends. */
    static void setReadAhead(long frame) {
        Memory.putByte(frame - 14, REFERENCED | READ_AHEAD);
    }

    static boolean isReadAhead(long frame) {
        return (Memory.getByte(frame - 14) & READ_AHEAD) != 0;
    }

    static long stamp(long frame) {
        return Memory.getLong(frame - 8);
    }

    static void setStamp(long frame, long epoch) {
        Memory.putLong(frame - 8, epoch);
    }
}
