package io.afterbay.store.near;

import io.afterbay.store.StateKey;
import io.afterbay.store.page.Memory;

/**
 * Finds the slot of a trigger: a hash table with linear probing.
 *
 * <pre>
 *   cell:  tag | slot + 1     0 if empty
 * </pre>
 *
 * The tag is as much of the hash as fits beside the slot, so that a probe touches no slot but the
 * one it looks for. Removal moves the following cells up (Knuth, The Art of Computer Programming 3,
 * section 6.4, algorithm R): there are no tombstones, and a table that is in use for ever stays as
 * good as a new one.
 */
final class SlotIndex {
    static final int CELL_BYTES = Integer.BYTES;
    static final int ABSENT = -1;

    private final long address;
    private final TriggerSlots slots;
    private final int mask;
    private final int homeShift;
    private final int slotMask;

    /**
     * @param cells a power of two, more than there are slots
     */
    SlotIndex(long address, int cells, TriggerSlots slots) {
        this.address = address;
        this.slots = slots;
        mask = cells - 1;
        slotMask = mask;
        homeShift = Long.numberOfLeadingZeros(mask);
        clear();
    }

    void clear() {
        Memory.zero(address, (mask + 1L) * CELL_BYTES);
    }

    private static long hash(long timestamp, long place) {
        return (place ^ timestamp * 0x9e3779b97f4a7c15L) * 0xd6e8feb86659fd93L;
    }

    /** Upper bits of the product, which depend on all bits of the factors. */
    private int home(long hash) {
        return (int) (hash >>> homeShift);
    }

    /** The bits below those of the home. */
    private int tag(long hash) {
        return (int) (hash >>> homeShift - 32) & ~slotMask;
    }

    private int cell(int number) {
        return Memory.getInt(address + (long) number * CELL_BYTES);
    }

    private void setCell(int number, int cell) {
        Memory.putInt(address + (long) number * CELL_BYTES, cell);
    }

    private int next(int number) {
        return number + 1 & mask;
    }

    private int slot(int cell) {
        return (cell & slotMask) - 1;
    }

    /** The slot of the trigger, or {@link #ABSENT}. */
    int find(long timestamp, long place, StateKey key) {
        long hash = hash(timestamp, place);
        int tag = tag(hash);
        for (int number = home(hash); ; number = next(number)) {
            int cell = cell(number);
            if (cell == 0) {
                return ABSENT;
            }
            if ((cell & ~slotMask) == tag && slots.holds(slot(cell), timestamp, place, key)) {
                return slot(cell);
            }
        }
    }

    /** Enters a slot whose trigger is not here yet. */
    void add(int slot) {
        long hash = hashOf(slot);
        int number = home(hash);
        while (cell(number) != 0) {
            number = next(number);
        }
        setCell(number, tag(hash) | slot + 1);
    }

    private long hashOf(int slot) {
        return hash(slots.timestamp(slot), slots.place(slot));
    }

    /** Takes a slot out that is here, while it still holds its trigger. */
    void remove(int slot) {
        int hole = numberOf(slot);
        for (int number = next(hole); cell(number) != 0; number = next(number)) {
            int home = home(hashOf(slot(cell(number))));
            if ((number - home & mask) >= (number - hole & mask)) {
                setCell(hole, cell(number));
                hole = number;
            }
        }
        setCell(hole, 0);
    }

    private int numberOf(int slot) {
        int number = home(hashOf(slot));
        while (slot(cell(number)) != slot) {
            number = next(number);
        }
        return number;
    }
}
