package io.afterbay.store.near;

import io.afterbay.store.page.Memory;
import java.util.PriorityQueue;

/**
 * Slots in the order in which their triggers fire: a binary heap (Williams, Algorithm 232, 1964),
 * whose slots know their position, so that any can be removed. What replaces a removed slot starts
 * at the bottom, where it came from, rather than at the gap: that halves the comparisons (Wegener's
 * bottom-up heapsort, 1993).
 */
final class SlotHeap {
    static final int ENTRY_BYTES = Integer.BYTES;

    private final long address;
    private final TriggerSlots slots;
    private int size;

    SlotHeap(long address, TriggerSlots slots) {
        this.address = address;
        this.slots = slots;
    }

    int size() {
        return size;
    }

    /** The slot of the trigger that fires first; there must be one. */
    int first() {
        return get(0);
    }

    private int get(int position) {
        return Memory.getInt(address + (long) position * ENTRY_BYTES);
    }

    private void put(int position, int slot) {
        Memory.putInt(address + (long) position * ENTRY_BYTES, slot);
        slots.setPosition(slot, position);
    }

    void add(int slot) {
        rise(size++, slot);
    }

    /** The slot keeps its old position. */
    void remove(int slot) {
        int last = get(--size);
        if (last != slot) {
            rise(sink(slots.position(slot)), last);
        }
    }

    /** Lets a gap sink to the bottom, always by way of the earlier child. */
    private int sink(int start) {
        int gap = start;
        for (int child = 2 * gap + 1; child < size; child = 2 * gap + 1) {
            if (child + 1 < size && slots.compare(get(child + 1), get(child)) < 0) {
                child++;
            }
            put(gap, get(child));
            gap = child;
        }
        return gap;
    }

    private void rise(int start, int slot) {
        int position = start;
        while (position > 0) {
            int parent = (position - 1) / 2;
            if (slots.compare(get(parent), slot) <= 0) {
                break;
            }
            put(position, get(parent));
            position = parent;
        }
        put(position, slot);
    }

    /** Those that fire first, in that order, {@code max} at most. They stay. */
    int[] firstOnes(int max) {
        int[] found = new int[Math.min(max, size)];
        PriorityQueue<Integer> candidates =
                new PriorityQueue<>((a, b) -> slots.compare(get(a), get(b)));
        if (found.length > 0) {
            candidates.add(0);
        }
        for (int i = 0; i < found.length; i++) {
            int position = candidates.remove();
            found[i] = get(position);
            for (int child = 2 * position + 1; child <= 2 * position + 2 && child < size; child++) {
                candidates.add(child);
            }
        }
        return found;
    }

    /** Empties the heap; the slots, in no order, keep their old positions. */
    int[] takeAll() {
        int[] taken = new int[size];
        for (int i = 0; i < taken.length; i++) {
            taken[i] = get(i);
        }
        size = 0;
        return taken;
    }
}
