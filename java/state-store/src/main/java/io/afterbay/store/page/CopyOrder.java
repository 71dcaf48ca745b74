package io.afterbay.store.page;

import java.util.Arrays;

/**
 * The pages that an image has to copy, slice by slice, within a slice by id, and where the copies
 * are. Filled in the order of ids, then {@link #sort sorted}, then gone through once, then asked in
 * the order of ids. Used by the thread that writes the image.
 */
final class CopyOrder {
    private static final int CAPACITY_MIN = 64;

    private int[] pageIds = new int[CAPACITY_MIN];
    private byte[] slices = new byte[CAPACITY_MIN];
    private int count;

    private int[] order = new int[0];
    private long[] locations = new long[0];

    /** In {@link #order}, behind the page that {@link #next} has returned. */
    private int at;

    /** The first page that {@link #locationOf} was not asked for yet. */
    private int asked;

    void add(int pageId, int slice) {
        if (count == pageIds.length) {
            pageIds = Arrays.copyOf(pageIds, 2 * count);
            slices = Arrays.copyOf(slices, 2 * count);
        }
        pageIds[count] = pageId;
        slices[count] = (byte) slice;
        count++;
    }

    /** Counts, since the order within a slice stays. */
    void sort() {
        int[] ends = new int[Slices.LIMIT + 1];
        for (int i = 0; i < count; i++) {
            ends[(slices[i] & 0xff) + 1]++;
        }
        Arrays.parallelPrefix(ends, Integer::sum);
        order = new int[count];
        locations = new long[count];
        for (int i = 0; i < count; i++) {
            order[ends[slices[i] & 0xff]++] = i;
        }
    }

    /** The next page to copy; 0 at the end. */
    int next() {
        return at < count ? pageIds[order[at++]] : 0;
    }

    /** Where the copy of the page is that {@link #next} has returned last. */
    void copied(long location) {
        locations[order[at - 1]] = location;
    }

    /** Where the copy of a page is; 0 if there is none. */
    long locationOf(int pageId) {
        if (asked == count || pageIds[asked] != pageId) {
            return 0;
        }
        return locations[asked++];
    }
}
