package io.afterbay.store.tree;

import io.afterbay.store.Hash;
import io.afterbay.store.StateKey;

/**
 * The key of a tree entry; reused. Entries are in order of {@code (high, low)}, then of the key
 * itself:
 *
 * <pre>
 *             high                                        low
 *   values    key group 16b | hash of key+namespace 48b   0
 *   maps      key group 16b | hash of key+namespace 48b   user key of up to 8 bytes, else its hash 64b
 *   triggers  key group 16b | timestamp, upper 48b        timestamp, lower 16b | hash of key+namespace 48b
 * </pre>
 *
 * {@code high} compares signed (its top bit is 0), {@code low} unsigned; timestamps are biased to
 * be unsigned.
 */
public final class EntryKey {
    private static final byte[] NONE = new byte[0];

    long high;
    long low;
    StateKey key = new StateKey();
    byte[] userKey = NONE;
    int userKeyLength;

    public EntryKey value(StateKey key) {
        high = highOf(key.keyGroup(), key.hash());
        low = 0;
        this.key = key;
        userKey = NONE;
        userKeyLength = 0;
        return this;
    }

    public EntryKey map(StateKey key, byte[] userKey, int length) {
        value(key);
        low = length <= Long.BYTES ? leftAligned(userKey, length) : Hash.of(userKey, 0, length, 0);
        this.userKey = userKey;
        userKeyLength = length;
        return this;
    }

    /** Compares, unsigned, as the bytes do. */
    private static long leftAligned(byte[] bytes, int length) {
        long value = 0;
        for (int i = 0; i < length; i++) {
            value |= (bytes[i] & 0xffL) << (56 - 8 * i);
        }
        return value;
    }

    public EntryKey trigger(long timestamp, StateKey key) {
        value(key);
        long biased = timestamp ^ Long.MIN_VALUE;
        high = (long) key.keyGroup() << 48 | biased >>> 16;
        low = biased << 48 | key.hash() >>> 16;
        return this;
    }

    public static long highOf(int keyGroup, long hash) {
        return (long) keyGroup << 48 | hash >>> 16;
    }

    /** What entries are ordered by first; in trees that are not wide, seldom equal for two keys. */
    public long high() {
        return high;
    }

    int keyGroup() {
        return keyGroup(high);
    }

    static int keyGroup(long high) {
        return (int) (high >>> 48);
    }

    static long timestamp(long high, long low) {
        return (high << 16 | low >>> 48) ^ Long.MIN_VALUE;
    }

    int keyBytes() {
        return key.length() + userKeyLength;
    }

    static int compare(long highA, long lowA, long highB, long lowB) {
        int order = Long.compare(highA, highB);
        return order != 0 ? order : Long.compareUnsigned(lowA, lowB);
    }
}
