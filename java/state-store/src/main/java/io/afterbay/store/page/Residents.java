package io.afterbay.store.page;

import java.util.Arrays;
import java.util.function.LongConsumer;

/** The pages in memory, and the clock hand that picks which one to evict (second chance). */
final class Residents {
    private int[] pageIds = new int[256];
    private int count;
    private int hand;

    int count() {
        return count;
    }

    void add(int pageId, long frame) {
        if (count == pageIds.length) {
            pageIds = Arrays.copyOf(pageIds, count * 2);
        }
        pageIds[count] = pageId;
        Frame.setResidentIndex(frame, count);
        count++;
    }

    void remove(long frame, PageTable table) {
        int index = Frame.residentIndex(frame);
        int last = pageIds[--count];
        if (index != count) {
            pageIds[index] = last;
            Frame.setResidentIndex(table.get(last), index);
        }
    }

    /** The first page from the hand on that was not referenced since the hand passed it. */
    long victim(PageTable table) {
        for (; ; ) {
            if (hand >= count) {
                hand = 0;
            }
            long frame = table.get(pageIds[hand]);
            if (!Frame.clearReferenced(frame)) {
                return frame;
            }
            hand++;
        }
    }

    void forEach(PageTable table, LongConsumer consumer) {
        for (int i = 0; i < count; i++) {
            consumer.accept(table.get(pageIds[i]));
        }
    }

    void clear() {
        count = 0;
        hand = 0;
    }
}
