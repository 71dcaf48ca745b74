package io.afterbay.store.page;

/**
 * One page image in a segment file, by its address in memory (format: {@code spec/state-log.md}).
 * Little endian, 16-byte aligned.
 *
 * <pre>
 *   0        4         8           12             16
 *   +--------+---------+-----------+--------------+-------------------+------ ... -+
 *   | CRC32C | page id | page size | stored bytes | the page, perhaps | 0          |
 *   |        |         |           |              | compressed        |            |
 *   +--------+---------+-----------+--------------+-------------------+------ ... -+
 *            |<--------- covered by the checksum --------------------------------->|
 * </pre>
 *
 * The page has room in units of a sixteenth of its size, so that a page table entry can tell how
 * much. It is compressed if fewer bytes are stored than it has.
 */
final class Block {
    static final int HEADER_BYTES = 16;
    private static final int PAGE_ID = 4;
    private static final int PAGE_BYTES = 8;
    private static final int STORED = 12;

    private Block() {}

    /** Room for so many bytes of a page. */
    static int roomBytes(int pageBytes, int storedBytes) {
        int unit = PageSize.unitBytes(pageBytes);
        return (storedBytes + unit - 1) / unit * unit;
    }

    /**
     * Writes a block but for its checksum.
     *
     * @param stored the page, or its compressed form
     */
    static void write(long at, int pageId, int pageBytes, long stored, int storedBytes) {
        Memory.putInt(at, 0);
        Memory.putInt(at + PAGE_ID, pageId);
        Memory.putInt(at + PAGE_BYTES, pageBytes);
        Memory.putInt(at + STORED, storedBytes);
        Memory.copy(stored, at + HEADER_BYTES, storedBytes);
        int rest = roomBytes(pageBytes, storedBytes) - storedBytes;
        if (rest > 0) {
            Memory.zero(at + HEADER_BYTES + storedBytes, rest);
        }
    }

    /** Whether sizes are possible; a block that is read from a file may be anything. */
    static boolean isPlausible(long at) {
        int stored = storedBytes(at);
        return PageSize.isOne(pageBytes(at)) && stored > 0 && stored <= pageBytes(at);
    }

    /** Size of the whole block, which is plausible. */
    static int bytes(long at) {
        return HEADER_BYTES + roomBytes(pageBytes(at), storedBytes(at));
    }

    static int pageId(long at) {
        return Memory.getInt(at + PAGE_ID);
    }

    static int pageBytes(long at) {
        return Memory.getInt(at + PAGE_BYTES);
    }

    static int storedBytes(long at) {
        return Memory.getInt(at + STORED);
    }

    /**
     * Copies or decompresses the page.
     *
     * @return whether it could be decompressed to its size
     */
    static boolean restore(long at, long page) {
        int stored = storedBytes(at);
        int bytes = pageBytes(at);
        if (stored < bytes) {
            return PageCodec.decompress(at + HEADER_BYTES, stored, page, bytes);
        }
        Memory.copy(at + HEADER_BYTES, page, bytes);
        return true;
    }

    /** Writes the checksum of a block that lies in {@code staging}. */
    static void seal(Staging staging, int position) {
        staging.putInt(position, checksum(staging, position));
    }

    static boolean isIntact(Staging staging, int position) {
        return staging.getInt(position) == checksum(staging, position);
    }

    private static int checksum(Staging staging, int position) {
        int bytes = bytes(staging.address(position));
        return staging.checksum(position + PAGE_ID, bytes - PAGE_ID);
    }
}
