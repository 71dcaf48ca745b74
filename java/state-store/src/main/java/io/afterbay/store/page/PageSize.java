package io.afterbay.store.page;

/** Page sizes: powers of two from 512 bytes to 32 KB, numbered 0 to 6. */
public final class PageSize {
    public static final int SMALLEST_BYTES = 512;
    public static final int LARGEST_BYTES = 32 << 10;
    private static final int UNITS = 16;

    private PageSize() {}

    static int bytes(int sizeClass) {
        return SMALLEST_BYTES << sizeClass;
    }

    /** Blocks have room for a page in steps of that. */
    static int unitBytes(int pageBytes) {
        return pageBytes / UNITS;
    }

    static boolean isOne(int bytes) {
        return bytes >= SMALLEST_BYTES && bytes <= LARGEST_BYTES && Integer.bitCount(bytes) == 1;
    }

    static int classOf(int bytes) {
        return Integer.numberOfTrailingZeros(bytes) - 9;
    }

    /** The smallest page size that holds {@code bytes}, or the largest there is. */
    public static int fitting(long bytes) {
        if (bytes <= SMALLEST_BYTES) {
            return SMALLEST_BYTES;
        }
        if (bytes >= LARGEST_BYTES) {
            return LARGEST_BYTES;
        }
        return Integer.highestOneBit((int) bytes - 1) << 1;
    }
}
