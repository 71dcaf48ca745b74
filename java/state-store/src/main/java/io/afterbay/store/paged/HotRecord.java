package io.afterbay.store.paged;

import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.page.Memory;

/**
 * A record of the hot tier, by address; 8-byte aligned, little endian.
 *
 * <pre>
 *    0                   4                   8
 *   +-------------------+-------------------+-------------------+-------------------+
 *   | bytes of record   | home (24) | flags | hash                                  |
 *   +---------+---------+---------+---------+-------------------+-------------------+
 *   | key grp | key len | ns len  | logged  | value length      | value capacity    |
 *   +---------+---------+---------+---------+-------------------+-------------------+
 *   | key, namespace, padding to 8 ...      | value, up to its capacity ...         |
 *   +---------------------------------------+---------------------------------------+
 * </pre>
 *
 * <em>Logged</em> is how much of the value, from its beginning, the redo log has heard of, for
 * states whose values only grow.
 */
final class HotRecord {
    /** Home does not know the content yet. */
    static final int DIRTY = 1;

    /** Home, or the redo log, may have an entry for the key. */
    static final int STORED = 2;

    /** There is no entry: it was removed, or never was. */
    static final int ABSENT = 4;

    /** The value is not all: it comes behind what home has. */
    static final int PARTIAL = 8;

    /** Superseded; nothing but its size counts. */
    static final int DEAD = 16;

    /** The redo log has heard of what the record says, though home may not. */
    static final int LOGGED = 32;

    /** The tier's own: it is among the changes that the redo log has to hear of. */
    private static final int QUEUED = 64;

    static final int KEY_BYTES_MAX = 512;
    static final int VALUE_BYTES_MAX = 1024;
    static final int HEADER_BYTES = 32;
    static final int BYTES_MAX = HEADER_BYTES + KEY_BYTES_MAX + VALUE_BYTES_MAX;

    private static final int FLAG_BITS = 8;
    private static final int FLAGS = (1 << FLAG_BITS) - 1;

    private HotRecord() {}

    static int bytesFor(int keyBytes, int capacity) {
        return HEADER_BYTES + align(keyBytes) + align(capacity);
    }

    static int align(int bytes) {
        return bytes + 7 & ~7;
    }

    /** Makes a record with no value yet; the capacity is what {@code bytes} leaves. */
    static void init(long record, int bytes, int home, int flags, StateKey key) {
        Memory.putInt(record, bytes);
        Memory.putInt(record + 4, home << FLAG_BITS | flags);
        Memory.putLong(record + 8, key.hash());
        Memory.putShort(record + 16, key.keyGroup());
        Memory.putShort(record + 18, key.keyLength());
        Memory.putShort(record + 20, key.namespaceLength());
        Memory.putShort(record + 22, 0);
        Memory.putInt(record + 24, 0);
        Memory.putInt(record + 28, bytes - HEADER_BYTES - align(key.length()));
        Memory.write(key.bytes(), 0, record + HEADER_BYTES, key.length());
    }

    /** Makes a record of which only the size counts. */
    static void initDead(long record, int bytes) {
        Memory.putInt(record, bytes);
        Memory.putInt(record + 4, DEAD);
    }

    static int bytes(long record) {
        return Memory.getInt(record);
    }

    static int home(long record) {
        return Memory.getInt(record + 4) >>> FLAG_BITS;
    }

    /** All but the tier's own. */
    static int flags(long record) {
        return Memory.getInt(record + 4) & FLAGS & ~QUEUED;
    }

    static boolean has(long record, int flag) {
        return (flags(record) & flag) != 0;
    }

    /** All but the tier's own. */
    static void setFlags(long record, int flags) {
        Memory.putInt(record + 4, Memory.getInt(record + 4) & (~FLAGS | QUEUED) | flags);
    }

    static boolean isQueued(long record) {
        return (Memory.getInt(record + 4) & QUEUED) != 0;
    }

    static void setQueued(long record, boolean queued) {
        int others = Memory.getInt(record + 4) & ~QUEUED;
        Memory.putInt(record + 4, queued ? others | QUEUED : others);
    }

    static int loggedBytes(long record) {
        return Memory.getShort(record + 22);
    }

    static void setLoggedBytes(long record, int bytes) {
        Memory.putShort(record + 22, bytes);
    }

    static long hash(long record) {
        return Memory.getLong(record + 8);
    }

    static boolean isOf(long record, int home, StateKey key) {
        int length = key.length();
        return Memory.getLong(record + 8) == key.hash()
                && home(record) == home
                && Memory.getShort(record + 16) == key.keyGroup()
                && Memory.getShort(record + 18) == key.keyLength()
                && Memory.getShort(record + 20) == key.namespaceLength()
                && Memory.compare(record + HEADER_BYTES, key.bytes(), 0, length) == 0;
    }

    /** {@code scratch} takes the bytes on their way. */
    static void readKey(long record, StateKey into, Slice scratch) {
        int keyLength = Memory.getShort(record + 18);
        int namespaceLength = Memory.getShort(record + 20);
        byte[] bytes = scratch.reset(keyLength + namespaceLength);
        Memory.read(record + HEADER_BYTES, bytes, 0, keyLength + namespaceLength);
        into.setKey(Memory.getShort(record + 16), bytes, 0, keyLength);
        into.setNamespace(bytes, keyLength, namespaceLength);
    }

    static int valueLength(long record) {
        return Memory.getInt(record + 24);
    }

    static void setValueLength(long record, int length) {
        Memory.putInt(record + 24, length);
    }

    static int capacity(long record) {
        return Memory.getInt(record + 28);
    }

    static long valueAt(long record) {
        return record + bytes(record) - capacity(record);
    }

    static void readValue(long record, Slice into) {
        int length = valueLength(record);
        Memory.read(valueAt(record), into.reset(length), 0, length);
    }

    static void writeValue(long record, byte[] value, int offset, int length) {
        Memory.write(value, offset, valueAt(record), length);
        setValueLength(record, length);
    }

    static void appendValue(long record, byte[] bytes, int offset, int length) {
        int before = valueLength(record);
        Memory.write(bytes, offset, valueAt(record) + before, length);
        setValueLength(record, before + length);
    }
}
