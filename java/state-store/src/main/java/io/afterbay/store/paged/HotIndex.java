package io.afterbay.store.paged;

import io.afterbay.store.StateKey;
import io.afterbay.store.page.Memory;

/**
 * Where the live records of the {@link HotLog} are: open addressing with linear probing. A slot is
 * an int: 0, or the record's place (position / unit + 1) in the lower bits and a tag from its hash
 * in the upper ones, so that a search seldom touches a record of another key. The records of one
 * key in several states begin their search in one cache line.
 */
final class HotIndex {
    static final int SLOT_BYTES = 4;

    /** Slots of a cache line. */
    static final int LINE_SLOTS = 16;

    private static final int PLACE_BITS = 23;
    private static final int PLACES = (1 << PLACE_BITS) - 1;

    /** Records begin at multiples of it at least. */
    private static final int UNIT_BYTES_MIN = 8;

    private final long address;
    private final int slots;
    private final long log;
    private final int unitBits;

    /**
     * @param address of {@code slots * 4} bytes, which this takes over
     * @param slots a multiple of {@link #LINE_SLOTS}, half as many again as there can be records
     * @param log address of the log
     * @param unit a power of two, of which all positions in the log are multiples
     */
    HotIndex(long address, int slots, long log, int unit) {
        this.address = address;
        this.slots = slots;
        this.log = log;
        this.unitBits = Integer.numberOfTrailingZeros(unit);
        Memory.zero(address, bytesFor(slots));
    }

    /** How long a log can be of which slots can address every position. */
    static long logBytesMax(int unit) {
        return (long) (PLACES - 1) * unit;
    }

    /** The least unit with which slots can address the whole of a log. */
    static int unitFor(long logBytes) {
        int unit = UNIT_BYTES_MIN;
        while (logBytesMax(unit) < logBytes) {
            unit *= 2;
        }
        return unit;
    }

    static long bytesFor(int slots) {
        return (long) slots * SLOT_BYTES;
    }

    /** The address of the record, or 0. */
    long find(int home, StateKey key) {
        int tag = tag(mix(home, key.hash()));
        for (int slot = slot(home, key.hash()); ; slot = next(slot)) {
            int entry = get(slot);
            if (entry == 0) {
                return 0;
            }
            if ((entry & ~PLACES) == tag && HotRecord.isOf(record(entry), home, key)) {
                return record(entry);
            }
        }
    }

    /** Enters a record of which there is no other one with its key. */
    void add(long record) {
        int slot = wantedSlot(record);
        while (get(slot) != 0) {
            slot = next(slot);
        }
        set(slot, tagOf(record) | place(record));
    }

    /** Lets a record that is there be found at another address. */
    void move(long from, long to) {
        set(slotOf(from), tagOf(to) | place(to));
    }

    /** Takes out a record that is there; those behind it move up, so that no gap hides them. */
    void remove(long record) {
        int gap = slotOf(record);
        for (int slot = next(gap); get(slot) != 0; slot = next(slot)) {
            int wanted = wantedSlot(record(get(slot)));
            if (distance(wanted, slot) >= distance(gap, slot)) {
                set(gap, get(slot));
                gap = slot;
            }
        }
        set(gap, 0);
    }

    private int slotOf(long record) {
        int slot = wantedSlot(record);
        int place = place(record);
        while ((get(slot) & PLACES) != place) {
            slot = next(slot);
        }
        return slot;
    }

    private int wantedSlot(long record) {
        return slot(HotRecord.home(record), HotRecord.hash(record));
    }

    private int slot(int home, long hash) {
        int slot = (int) ((hash & 0xffffffffL) * slots >>> 32);
        return slot ^ home & LINE_SLOTS - 1;
    }

    private int next(int slot) {
        int next = slot + 1;
        return next == slots ? 0 : next;
    }

    private int distance(int from, int to) {
        int distance = to - from;
        return distance < 0 ? distance + slots : distance;
    }

    private static int tagOf(long record) {
        return tag(mix(HotRecord.home(record), HotRecord.hash(record)));
    }

    static long mix(int home, long hash) {
        return hash ^ home * 0x9e3779b97f4a7c15L;
    }

    private static int tag(long mixed) {
        return (int) (mixed >>> 32) & ~PLACES;
    }

    private int place(long record) {
        return (int) (record - log >>> unitBits) + 1;
    }

    private long record(int entry) {
        return log + ((long) (entry & PLACES) - 1 << unitBits);
    }

    private int get(int slot) {
        return Memory.getInt(address + (long) slot * SLOT_BYTES);
    }

    private void set(int slot, int entry) {
        Memory.putInt(address + (long) slot * SLOT_BYTES, entry);
    }
}
