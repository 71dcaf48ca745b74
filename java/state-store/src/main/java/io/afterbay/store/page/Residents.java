package io.afterbay.store.page;

import java.util.Arrays;
import java.util.function.LongConsumer;

/**
 * The pages in memory, and the clock hand that picks which one to evict (second chance). The hand
 * goes slice by slice, so that what it evicts on one round lies in files in the order of key groups
 * ({@link Slices}): whoever needs some of the key groups later finds their pages together.
 */
final class Residents {
    private static final int CAPACITY_MIN = 16;
    private static final int[] NONE = new int[0];

    private final int[][] pageIds = new int[Slices.LIMIT][];
    private final int[] counts = new int[Slices.LIMIT];
    private int count;

    /** Where the hand is: a slice, and a place in it. */
    private int slice;

    private int hand;

    Residents() {
        Arrays.fill(pageIds, NONE);
    }

    int count() {
        return count;
    }

    void add(int pageId, long frame, PageTable table) {
        int of = table.slice(pageId);
        int index = counts[of]++;
        if (index == pageIds[of].length) {
            pageIds[of] = Arrays.copyOf(pageIds[of], Math.max(CAPACITY_MIN, index * 2));
        }
        pageIds[of][index] = pageId;
        Frame.setResidentIndex(frame, index);
        count++;
    }

    void remove(long frame, PageTable table) {
        int of = table.slice(Frame.pageId(frame));
        int index = Frame.residentIndex(frame);
        int last = pageIds[of][--counts[of]];
        if (index != counts[of]) {
            pageIds[of][index] = last;
            Frame.setResidentIndex(table.get(last), index);
        }
        count--;
    }

    /**
     * The first page from the hand on that was not referenced since the hand passed it. There must
     * be one in memory.
     */
    long victim(PageTable table) {
        for (; ; ) {
            while (hand >= counts[slice]) {
                hand = 0;
                slice = (slice + 1) % Slices.LIMIT;
            }
            long frame = table.get(pageIds[slice][hand]);
            if (!Frame.clearReferenced(frame)) {
                return frame;
            }
            hand++;
        }
    }

    void forEach(PageTable table, LongConsumer consumer) {
        for (int of = 0; of < Slices.LIMIT; of++) {
            for (int i = 0; i < counts[of]; i++) {
                consumer.accept(table.get(pageIds[of][i]));
            }
        }
    }

    void clear() {
        Arrays.fill(pageIds, NONE);
        Arrays.fill(counts, 0);
        count = 0;
        slice = 0;
        hand = 0;
    }
}
