package io.afterbay.store.tree;

import static io.afterbay.store.page.Memory.copy;
import static io.afterbay.store.page.Memory.getByte;
import static io.afterbay.store.page.Memory.getLong;
import static io.afterbay.store.page.Memory.getShort;
import static io.afterbay.store.page.Memory.putByte;
import static io.afterbay.store.page.Memory.putLong;
import static io.afterbay.store.page.Memory.putShort;

import io.afterbay.store.page.Memory;
import io.afterbay.store.page.PageStore;

/**
 * A leaf page of a tree (format: {@code spec/state-log.md}): slots in order of the key grow from
 * the front, records from the back.
 *
 * <pre>
 *   0      1      2       4          6         8     16
 *   +------+------+-------+----------+---------+-----+------------------------+----- ... -----+---------+
 *   | kind | 0    | count | records  | garbage | 0   | slots: high 8B, at 2B  |  free         | records |
 *   +------+------+-------+----------+---------+-----+------------------------+----- ... -----+---------+
 * </pre>
 *
 * {@code records} is the offset of the lowest record, {@code garbage} the bytes of removed ones.
 */
final class Leaf {
    static final int KIND = 1;

    static final int HEADER_BYTES = 16;
    static final int SLOT_BYTES = 10;

    private Leaf() {}

    static void init(long page, int pageBytes) {
        putLong(page, 0);
        putLong(page + 8, 0);
        putByte(page, KIND);
        setRecords(page, pageBytes);
    }

    static boolean isLeaf(long page) {
        return getByte(page) == KIND;
    }

    static int count(long page) {
        return getShort(page + 2);
    }

    static void setCount(long page, int count) {
        putShort(page + 2, count);
    }

    private static int records(long page) {
        return getShort(page + 4);
    }

    private static void setRecords(long page, int offset) {
        putShort(page + 4, offset);
    }

    static int garbage(long page) {
        return getShort(page + 6);
    }

    static void setGarbage(long page, int bytes) {
        putShort(page + 6, bytes);
    }

    private static long slot(long page, int index) {
        return page + HEADER_BYTES + (long) index * SLOT_BYTES;
    }

    static long high(long page, int index) {
        return getLong(slot(page, index));
    }

    static long record(long page, int index) {
        return page + getShort(slot(page, index) + 8);
    }

    static long low(long page, int index, boolean wide) {
        return wide ? getLong(record(page, index)) : 0;
    }

    /** Bytes between slots and records. */
    static int gap(long page) {
        return records(page) - HEADER_BYTES - count(page) * SLOT_BYTES;
    }

    /** Leaves nothing in the gap that would have to be compressed. */
    static void clearGap(long page) {
        Memory.zero(slot(page, count(page)), gap(page));
    }

    /** Bytes that slots and live records take. */
    static int usedBytes(long page, int pageBytes) {
        return pageBytes - HEADER_BYTES - gap(page) - garbage(page);
    }

    /** The first slot whose key is not below {@code (high, low)}. */
    static int lowerBound(long page, long high, long low, boolean wide) {
        return wide ? lowerBoundWide(page, high, low) : lowerBoundOfHash(page, high);
    }

    private static int lowerBoundWide(long page, long high, long low) {
        int first = 0;
        int last = count(page) - 1;
        while (first <= last) {
            int middle = (first + last) >>> 1;
            long there = high(page, middle);
            if (there < high
                    || there == high && Long.compareUnsigned(low(page, middle, true), low) < 0) {
                first = middle + 1;
            } else {
                last = middle - 1;
            }
        }
        return first;
    }

    /**
     * Hashes are spread evenly, so the place can be guessed and is a few slots away: this touches
     * fewer cache lines than a binary search.
     */
    private static int lowerBoundOfHash(long page, long high) {
        int last = count(page) - 1;
        if (last < 0 || high <= high(page, 0)) {
            return 0;
        }
        long least = high(page, 0);
        long most = high(page, last);
        if (high > most) {
            return last + 1;
        }
        int at = (int) ((double) (high - least) / (most - least) * last);
        while (high(page, at) < high) {
            at++;
        }
        while (high(page, at - 1) >= high) {
            at--;
        }
        return at;
    }

    /**
     * Opens a slot with an uninitialised record, which must fit the gap with it; returns the
     * record.
     */
    static long insert(long page, int index, long high, int recordBytes) {
        int count = count(page);
        long at = slot(page, index);
        copy(at, at + SLOT_BYTES, (long) (count - index) * SLOT_BYTES);
        setCount(page, count + 1);
        int offset = records(page) - recordBytes;
        setRecords(page, offset);
        putLong(at, high);
        putShort(at + 8, offset);
        return page + offset;
    }

    /** Removes a slot; its record becomes garbage. */
    static void remove(long page, int index, boolean wide) {
        int count = count(page);
        if (count == 1) {
            init(page, PageStore.pageBytes(page));
            return;
        }
        setGarbage(page, garbage(page) + Record.bytes(record(page, index), wide));
        long at = slot(page, index);
        copy(at + SLOT_BYTES, at, (long) (count - index - 1) * SLOT_BYTES);
        setCount(page, count - 1);
    }

    /** Appends slots {@code from..to} (exclusive) of another leaf, which must fit the gap. */
    static void appendFrom(long source, int from, int to, long target, boolean wide) {
        for (int i = from; i < to; i++) {
            long record = record(source, i);
            int bytes = Record.bytes(record, wide);
            long copied = insert(target, count(target), high(source, i), bytes);
            copy(record, copied, bytes);
        }
    }

    /** Bytes of slots {@code from..to} (exclusive) with their records. */
    static int bytes(long page, int from, int to, boolean wide) {
        int bytes = 0;
        for (int i = from; i < to; i++) {
            bytes += SLOT_BYTES + Record.bytes(record(page, i), wide);
        }
        return bytes;
    }
}
