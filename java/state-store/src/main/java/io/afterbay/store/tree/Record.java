package io.afterbay.store.tree;

import static io.afterbay.store.page.Memory.getByte;
import static io.afterbay.store.page.Memory.getInt;
import static io.afterbay.store.page.Memory.getShort;
import static io.afterbay.store.page.Memory.putByte;
import static io.afterbay.store.page.Memory.putInt;
import static io.afterbay.store.page.Memory.putLong;
import static io.afterbay.store.page.Memory.putShort;

import io.afterbay.store.page.Memory;

/**
 * A record of a leaf (format: {@code spec/state-log.md}).
 *
 * <pre>
 *   [low 8B]  flags 1B | key 2B | namespace 2B | user key 2B | value 2B | capacity 2B | key bytes | value bytes
 *   wide trees         |<------ lengths ------------------------------>|
 * </pre>
 *
 * A key or value that is too long for a leaf lies in a chain: instead of the key bytes there are
 * the chain's head and the three lengths (4 B each), instead of the value bytes a {@link ChainRef}.
 */
final class Record {
    /** Value is a {@link ChainRef}. */
    static final int VALUE_CHAINED = 1;

    static final int KEY_CHAINED = 2;

    /** Longer keys (key, namespace and user key together) go to a chain. */
    static final int MAX_INLINE_KEY = 512;

    /** Longer values go to a chain. */
    static final int MAX_INLINE_VALUE = 512;

    static final int CHAINED_KEY_BYTES = 16;
    private static final int FIXED_BYTES = 11;

    private Record() {}

    static long base(long record, boolean wide) {
        return wide ? record + 8 : record;
    }

    /** Size of the whole record, spare capacity included. */
    static int bytes(long record, boolean wide) {
        long base = base(record, wide);
        return (wide ? 8 : 0) + FIXED_BYTES + inlineKeyBytes(base) + capacity(base);
    }

    static int bytesFor(EntryKey key, int capacity, boolean wide) {
        return (wide ? 8 : 0) + FIXED_BYTES + inlineKeyBytesFor(key) + capacity;
    }

    private static int inlineKeyBytesFor(EntryKey key) {
        return key.keyBytes() > MAX_INLINE_KEY ? CHAINED_KEY_BYTES : key.keyBytes();
    }

    static int flags(long base) {
        return getByte(base);
    }

    static boolean isKeyChained(long base) {
        return (flags(base) & KEY_CHAINED) != 0;
    }

    static boolean isValueChained(long base) {
        return (flags(base) & VALUE_CHAINED) != 0;
    }

    static void setValueChained(long base, boolean chained) {
        putByte(base, chained ? flags(base) | VALUE_CHAINED : flags(base) & ~VALUE_CHAINED);
    }

    static int keyLength(long base) {
        return isKeyChained(base) ? getInt(keyAt(base) + 4) : getShort(base + 1);
    }

    static int namespaceLength(long base) {
        return isKeyChained(base) ? getInt(keyAt(base) + 8) : getShort(base + 3);
    }

    static int userKeyLength(long base) {
        return isKeyChained(base) ? getInt(keyAt(base) + 12) : getShort(base + 5);
    }

    static int valueLength(long base) {
        return getShort(base + 7);
    }

    static void setValueLength(long base, int length) {
        putShort(base + 7, length);
    }

    static int capacity(long base) {
        return getShort(base + 9);
    }

    static long keyAt(long base) {
        return base + FIXED_BYTES;
    }

    static int keyChain(long base) {
        return getInt(keyAt(base));
    }

    static int inlineKeyBytes(long base) {
        return isKeyChained(base)
                ? CHAINED_KEY_BYTES
                : getShort(base + 1) + getShort(base + 3) + getShort(base + 5);
    }

    static long valueAt(long base) {
        return keyAt(base) + inlineKeyBytes(base);
    }

    /**
     * Fills a new record in, but for the value bytes; {@code keyChain} is used for long keys only.
     */
    static void init(long record, boolean wide, EntryKey key, int keyChain, int capacity) {
        if (wide) {
            putLong(record, key.low);
        }
        long base = base(record, wide);
        putShort(base + 7, 0);
        putShort(base + 9, capacity);
        if (key.keyBytes() > MAX_INLINE_KEY) {
            initChainedKey(base, key, keyChain);
        } else {
            initInlineKey(base, key);
        }
    }

    private static void initInlineKey(long base, EntryKey key) {
        putByte(base, 0);
        putShort(base + 1, key.key.keyLength());
        putShort(base + 3, key.key.namespaceLength());
        putShort(base + 5, key.userKeyLength);
        Memory.write(key.key.bytes(), 0, keyAt(base), key.key.length());
        Memory.write(key.userKey, 0, keyAt(base) + key.key.length(), key.userKeyLength);
    }

    private static void initChainedKey(long base, EntryKey key, int keyChain) {
        putByte(base, KEY_CHAINED);
        putShort(base + 1, 0);
        putShort(base + 3, 0);
        putShort(base + 5, 0);
        putInt(keyAt(base), keyChain);
        putInt(keyAt(base) + 4, key.key.keyLength());
        putInt(keyAt(base) + 8, key.key.namespaceLength());
        putInt(keyAt(base) + 12, key.userKeyLength);
    }

    /** Order among records of the same sort key whose keys lie in the leaf; lengths first. */
    static int compareLengths(long base, EntryKey key) {
        int order = Integer.compare(keyLength(base), key.key.keyLength());
        if (order == 0) {
            order = Integer.compare(namespaceLength(base), key.key.namespaceLength());
        }
        return order != 0 ? order : Integer.compare(userKeyLength(base), key.userKeyLength);
    }

    static int compareInlineKey(long base, EntryKey key) {
        int length = key.key.length();
        int order = Memory.compare(keyAt(base), key.key.bytes(), 0, length);
        return order != 0
                ? order
                : Memory.compare(keyAt(base) + length, key.userKey, 0, key.userKeyLength);
    }
}
