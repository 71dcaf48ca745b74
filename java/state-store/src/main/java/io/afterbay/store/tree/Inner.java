package io.afterbay.store.tree;

import static io.afterbay.store.page.Memory.copy;
import static io.afterbay.store.page.Memory.getInt;
import static io.afterbay.store.page.Memory.getLong;
import static io.afterbay.store.page.Memory.getShort;
import static io.afterbay.store.page.Memory.putByte;
import static io.afterbay.store.page.Memory.putInt;
import static io.afterbay.store.page.Memory.putLong;
import static io.afterbay.store.page.Memory.putShort;

/**
 * An inner page of a tree (format: {@code spec/state-log.md}). Child i holds the entries from key i
 * (inclusive) to key i+1 (exclusive); the first key counts as the least there is.
 *
 * <pre>
 *   0      1      2       4         16
 *   +------+------+-------+---------+----------+---------+----------+-----
 *   | kind | 0    | count | 0       | high 8 B | low 8 B | child 4B | ...
 *   +------+------+-------+---------+----------+---------+----------+-----
 * </pre>
 */
final class Inner {
    static final int KIND = 2;
    static final int PAGE_BYTES = 4 << 10;
    private static final int HEADER_BYTES = 16;
    private static final int ENTRY_BYTES = 20;

    /** With fewer children a binary search is as quick. */
    private static final int GUESSED_MIN = 8;

    static final int MAX_CHILDREN = (PAGE_BYTES - HEADER_BYTES) / ENTRY_BYTES;

    private Inner() {}

    static void init(long page) {
        putLong(page, 0);
        putLong(page + 8, 0);
        putByte(page, KIND);
    }

    static int count(long page) {
        return getShort(page + 2);
    }

    static void setCount(long page, int count) {
        putShort(page + 2, count);
    }

    private static long entry(long page, int index) {
        return page + HEADER_BYTES + (long) index * ENTRY_BYTES;
    }

    static long high(long page, int index) {
        return getLong(entry(page, index));
    }

    static long low(long page, int index) {
        return getLong(entry(page, index) + 8);
    }

    static int child(long page, int index) {
        return getInt(entry(page, index) + 16);
    }

    /**
     * The child in whose range a key falls.
     *
     * @param spread whether keys are spread evenly, as hashes are: then the place is guessed first,
     *     and is a few children away
     */
    static int indexOf(long page, long high, long low, boolean spread) {
        int least = 0; // is not behind the key
        int beyond = count(page); // is behind it
        if (spread && beyond > GUESSED_MIN) {
            int at = guess(page, beyond - 1, high);
            for (int step = 1; least < at && at < beyond; step *= 2) {
                if (isAtMost(page, at, high, low)) {
                    least = at;
                    at += step;
                } else {
                    beyond = at;
                    at -= step;
                }
            }
        }
        while (beyond - least > 1) {
            int middle = (least + beyond) >>> 1;
            if (isAtMost(page, middle, high, low)) {
                least = middle;
            } else {
                beyond = middle;
            }
        }
        return least;
    }

    private static boolean isAtMost(long page, int index, long high, long low) {
        return EntryKey.compare(high(page, index), low(page, index), high, low) <= 0;
    }

    /** Between the second child, whose key is the first that counts, and the last. */
    private static int guess(long page, int last, long high) {
        long least = high(page, 1);
        long most = high(page, last);
        if (high <= least || high >= most) {
            return high <= least ? 1 : last;
        }
        return 1 + (int) ((double) (high - least) / (most - least) * (last - 1));
    }

    static boolean isFull(long page) {
        return count(page) == MAX_CHILDREN;
    }

    static void insert(long page, int index, long high, long low, int child) {
        int count = count(page);
        long at = entry(page, index);
        copy(at, at + ENTRY_BYTES, (long) (count - index) * ENTRY_BYTES);
        putLong(at, high);
        putLong(at + 8, low);
        putInt(at + 16, child);
        setCount(page, count + 1);
    }

    static void remove(long page, int index) {
        int count = count(page);
        long at = entry(page, index);
        copy(at + ENTRY_BYTES, at, (long) (count - index - 1) * ENTRY_BYTES);
        setCount(page, count - 1);
    }

    /** Moves the entries from {@code from} on to an empty page. */
    static void moveTail(long page, int from, long target) {
        int moved = count(page) - from;
        copy(entry(page, from), entry(target, 0), (long) moved * ENTRY_BYTES);
        setCount(target, moved);
        setCount(page, from);
    }
}
