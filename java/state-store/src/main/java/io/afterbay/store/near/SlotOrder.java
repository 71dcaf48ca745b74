package io.afterbay.store.near;

/** Orders arrays of slots, all of different triggers. */
final class SlotOrder {
    private final TriggerSlots slots;

    SlotOrder(TriggerSlots slots) {
        this.slots = slots;
    }

    /**
     * Moves the {@code count} triggers that fire first to the front, in no order (Hoare's Find,
     * 1961).
     */
    void selectFirst(int[] chosen, int count) {
        int from = 0;
        int to = chosen.length - 1;
        while (from < to) {
            int pivot = partition(chosen, from, to);
            if (pivot < count - 1) {
                from = pivot + 1;
            } else if (pivot > count) {
                to = pivot - 1;
            } else {
                return;
            }
        }
    }

    /** Puts what fires before one of the middle to its left; returns where that one then is. */
    private int partition(int[] chosen, int from, int to) {
        swap(chosen, (from + to) >>> 1, to);
        int pivot = chosen[to];
        int border = from;
        for (int i = from; i < to; i++) {
            if (slots.compare(chosen[i], pivot) < 0) {
                swap(chosen, i, border++);
            }
        }
        swap(chosen, border, to);
        return border;
    }

    private static void swap(int[] chosen, int a, int b) {
        int slot = chosen[a];
        chosen[a] = chosen[b];
        chosen[b] = slot;
    }

    /** The same slots in the order of the tree; the argument's content is lost. */
    int[] sortAsInTree(int[] chosen) {
        int[] from = chosen;
        int[] to = new int[chosen.length];
        for (int run = 1; run < chosen.length; run *= 2) {
            for (int start = 0; start < chosen.length; start += 2 * run) {
                merge(from, to, start, start + run, start + 2 * run);
            }
            int[] merged = to;
            to = from;
            from = merged;
        }
        return from;
    }

    private void merge(int[] from, int[] to, int start, int middle, int end) {
        int left = start;
        int leftEnd = Math.min(middle, from.length);
        int right = leftEnd;
        int rightEnd = Math.min(end, from.length);
        for (int i = start; i < rightEnd; i++) {
            boolean takeLeft =
                    right == rightEnd
                            || left < leftEnd && slots.compareInTree(from[left], from[right]) < 0;
            to[i] = takeLeft ? from[left++] : from[right++];
        }
    }
}
