package io.afterbay.store.paged;

import io.afterbay.store.StateKey;
import io.afterbay.store.page.Memory;
import io.afterbay.store.page.PageStore;
import org.jspecify.annotations.Nullable;

/** The memory of the {@link HotEntries hot tier}: an index, and a log of records behind it. */
final class HotRegion {
    /**
     * Of the whole. The smallest record has {@link HotRecord#HEADER_BYTES} + 16, so at most three
     * slots in five are taken: with more, linear probing looks at many.
     */
    private static final int BYTES_PER_SLOT = 32;

    private static final int LINE_BYTES = HotIndex.LINE_SLOTS * HotIndex.SLOT_BYTES;

    /** On the heap, half a MiB at most. */
    private static final int DOORKEEPER_BITS_PER_SLOT = 4;

    private static final int DOORKEEPER_BITS_MAX = 1 << 22;

    final HotIndex index;
    final HotLog log;
    final Doorkeeper doorkeeper;
    private final long address;
    private final long bytes;

    private HotRegion(long address, long bytes) {
        this.address = address;
        this.bytes = bytes;
        long start = address + LINE_BYTES - 1 & -LINE_BYTES;
        long room = address + bytes - start;
        int slots = (int) (room / BYTES_PER_SLOT) & -HotIndex.LINE_SLOTS;
        long indexBytes = HotIndex.bytesFor(slots);
        int unit = HotIndex.unitFor(room - indexBytes);
        int logBytes = (int) Math.min(HotIndex.logBytesMax(unit), room - indexBytes) & -unit;
        index = new HotIndex(start, slots, start + indexBytes, unit);
        log = new HotLog(start + indexBytes, logBytes, unit);
        doorkeeper =
                new Doorkeeper(
                        Math.min(
                                DOORKEEPER_BITS_MAX,
                                DOORKEEPER_BITS_PER_SLOT * Integer.highestOneBit(slots)));
    }

    /**
     * Null if it is more than that part of the share, or pages cannot make the room.
     *
     * @param bytes below 2^30
     */
    static @Nullable HotRegion take(PageStore pages, long bytes, int partOfShareMin) {
        long address = pages.reserves().take(bytes, partOfShareMin);
        return address == 0 ? null : new HotRegion(address, bytes);
    }

    /** A new record with that capacity at least; of a key that has none. */
    long insert(int home, StateKey key, int flags, int capacity) {
        long record = allocate(home, key, flags, capacity);
        index.add(record);
        return record;
    }

    private long allocate(int home, StateKey key, int flags, int capacity) {
        int bytes = log.round(HotRecord.bytesFor(key.length(), capacity));
        long record = log.allocate(bytes);
        HotRecord.init(record, bytes, home, flags, key);
        return record;
    }

    /** The same record at the tail. The old one is to be declared dead. */
    long renew(long old) {
        int bytes = HotRecord.bytes(old);
        long record = log.allocate(bytes);
        Memory.copy(old, record, bytes);
        index.move(old, record);
        return record;
    }

    /** The same record with more room for its value. The old one is to be declared dead. */
    long grow(int home, StateKey key, long old, int capacity) {
        long record = allocate(home, key, HotRecord.flags(old), capacity);
        int length = HotRecord.valueLength(old);
        Memory.copy(HotRecord.valueAt(old), HotRecord.valueAt(record), length);
        HotRecord.setValueLength(record, length);
        HotRecord.setLoggedBytes(record, HotRecord.loggedBytes(old));
        index.move(old, record);
        return record;
    }

    long bytes() {
        return bytes;
    }

    void free(PageStore pages) {
        pages.reserves().giveBack(address, bytes);
    }
}
