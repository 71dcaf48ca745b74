package io.afterbay.store.near;

import static io.afterbay.store.page.Memory.getByte;
import static io.afterbay.store.page.Memory.getInt;
import static io.afterbay.store.page.Memory.getLong;
import static io.afterbay.store.page.Memory.getShort;
import static io.afterbay.store.page.Memory.putByte;
import static io.afterbay.store.page.Memory.putInt;
import static io.afterbay.store.page.Memory.putLong;
import static io.afterbay.store.page.Memory.putShort;

import io.afterbay.store.StateKey;
import io.afterbay.store.page.Memory;
import io.afterbay.store.tree.EntryKey;

/**
 * The triggers themselves, in slots of equal size; a slot is named by its number.
 *
 * <pre>
 *   timestamp 8B | place 8B | position 4B | key 1B | namespace 1B | logged 1B | unused 1B | key, namespace bytes
 *                                         |<------ lengths ----->|
 * </pre>
 *
 * The <em>place</em> is what {@link EntryKey#highOf} makes of key group and hash. The
 * <em>position</em> says where in the {@link SlotHeap} the trigger is, or {@link #COPY}, or {@link
 * #FREE}; the timestamp of a free slot is the number of the next one.
 */
final class TriggerSlots {
    /** Position of a trigger that the tree has, too. */
    static final int COPY = -1;

    static final int HEADER_BYTES = 24;
    private static final int FREE = -2;
    private static final int NONE = -1;
    private static final byte[] EMPTY = new byte[0];

    private final long address;
    private final int slotBytes;
    private final int capacity;

    /** Head of the list of slots that were in use before. */
    private int free = NONE;

    /** Slots from here on were never in use. */
    private int fresh;

    private int count;
    private byte[] scratch = EMPTY;

    TriggerSlots(long address, int slotBytes, int capacity) {
        this.address = address;
        this.slotBytes = slotBytes;
        this.capacity = capacity;
    }

    private long at(int slot) {
        return address + (long) slot * slotBytes;
    }

    boolean isFull() {
        return count == capacity;
    }

    /** Slots in use. */
    int count() {
        return count;
    }

    /** One more than the highest slot that is in use or free again. */
    int end() {
        return fresh;
    }

    /** The number of a slot that now holds the trigger; there must be room. */
    int add(long timestamp, long place, StateKey key) {
        int slot = take();
        long at = at(slot);
        putLong(at, timestamp);
        putLong(at + 8, place);
        putInt(at + 16, COPY);
        putShort(at + 20, lengths(key));
        putShort(at + 22, 0);
        Memory.write(key.bytes(), 0, at + HEADER_BYTES, key.length());
        return slot;
    }

    private int take() {
        count++;
        if (free == NONE) {
            return fresh++;
        }
        int slot = free;
        free = (int) getLong(at(slot));
        return slot;
    }

    void free(int slot) {
        putLong(at(slot), free);
        setPosition(slot, FREE);
        free = slot;
        count--;
    }

    void clear() {
        free = NONE;
        fresh = 0;
        count = 0;
    }

    private static int lengths(StateKey key) {
        return key.keyLength() | key.namespaceLength() << 8;
    }

    long timestamp(int slot) {
        return getLong(at(slot));
    }

    long place(int slot) {
        return getLong(at(slot) + 8);
    }

    int keyGroup(int slot) {
        return (int) (place(slot) >>> 48);
    }

    int position(int slot) {
        return getInt(at(slot) + 16);
    }

    void setPosition(int slot, int position) {
        putInt(at(slot) + 16, position);
    }

    boolean isLogged(int slot) {
        return getByte(at(slot) + 22) != 0;
    }

    void setLogged(int slot) {
        putByte(at(slot) + 22, (byte) 1);
    }

    private static int keyLength(long at) {
        return getByte(at + 20);
    }

    private static int namespaceLength(long at) {
        return getByte(at + 21);
    }

    void readKey(int slot, StateKey into) {
        long at = at(slot);
        int length = keyLength(at) + namespaceLength(at);
        if (scratch.length < length) {
            scratch = new byte[slotBytes];
        }
        Memory.read(at + HEADER_BYTES, scratch, 0, length);
        into.setKey(keyGroup(slot), scratch, 0, keyLength(at));
        into.setNamespace(scratch, keyLength(at), namespaceLength(at));
    }

    boolean holds(int slot, long timestamp, long place, StateKey key) {
        long at = at(slot);
        return getLong(at) == timestamp
                && getLong(at + 8) == place
                && getShort(at + 20) == lengths(key)
                && Memory.compare(at + HEADER_BYTES, key.bytes(), 0, key.length()) == 0;
    }

    /** The order in which triggers fire: timestamp, key group, then as the tree orders them. */
    int compare(int a, int b) {
        int order = Long.compare(timestamp(a), timestamp(b));
        if (order == 0) {
            order = Long.compare(place(a), place(b));
        }
        return order != 0 ? order : compareKeys(at(a), at(b));
    }

    /** The order of the tree: key group, timestamp, then as they fire. */
    int compareInTree(int a, int b) {
        int order = Integer.compare(keyGroup(a), keyGroup(b));
        return order != 0 ? order : compare(a, b);
    }

    /** Of different keys with one hash; as the tree does, by lengths first. */
    private static int compareKeys(long a, long b) {
        int order = Integer.compare(keyLength(a), keyLength(b));
        if (order == 0) {
            order = Integer.compare(namespaceLength(a), namespaceLength(b));
        }
        int length = keyLength(a) + namespaceLength(a);
        for (int i = HEADER_BYTES; order == 0 && i < HEADER_BYTES + length; i++) {
            order = Integer.compare(getByte(a + i) & 0xff, getByte(b + i) & 0xff);
        }
        return order;
    }

    /** As {@link #compare(int, int)}, with a trigger that is in no slot. */
    int compare(int slot, long timestamp, StateKey key) {
        int order = Long.compare(timestamp(slot), timestamp);
        if (order == 0) {
            order = Long.compare(place(slot), EntryKey.highOf(key.keyGroup(), key.hash()));
        }
        return order != 0 ? order : compareKey(at(slot), key);
    }

    private static int compareKey(long at, StateKey key) {
        int order = Integer.compare(keyLength(at), key.keyLength());
        if (order == 0) {
            order = Integer.compare(namespaceLength(at), key.namespaceLength());
        }
        return order != 0 ? order : Memory.compare(at + HEADER_BYTES, key.bytes(), 0, key.length());
    }
}
