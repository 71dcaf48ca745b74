package io.afterbay.store.near;

import io.afterbay.store.StateKey;
import io.afterbay.store.tree.EntryKey;
import java.util.Arrays;

/**
 * A bounded set of triggers in one block of memory: no object per trigger, nothing to allocate for
 * one, nothing for a collector to trace.
 *
 * <pre>
 *   (timestamp, key)                                     what fires first
 *         |                                                     |
 *   +-----v------+        +---------------------------+   +-----v-----+
 *   |   index    |------->|   slots, one per trigger  |<--|   heap    |
 *   | hash table |        |  waiting: in the heap     |-->|           |
 *   +------------+        |  copy: the tree has it    |   +-----------+
 *                         +---------------------------+
 * </pre>
 *
 * <p>Invariants: each trigger is here once. The index knows all of them. The heap knows those that
 * <em>wait</em> to be written, that is, those that the tree has not. A <em>copy</em> is here only
 * to tell without the tree that the trigger is there.
 *
 * <p>After the timer queues of Flink's heap backend (a binary heap and a hash set), but serialised.
 */
public final class NearTriggers {
    /** Longer keys, namespace included, are not taken. */
    public static final int KEY_BYTES_MAX = 64;

    /** What {@link #find} returns for none. */
    public static final int ABSENT = SlotIndex.ABSENT;

    private final int keyBytesMax;
    private final TriggerSlots slots;
    private final SlotIndex index;
    private final SlotHeap heap;
    private final SlotOrder order;
    private final int capacity;

    /**
     * @param address of the block; it is the caller's to free
     * @param bytes size of the block, a few hundred at least
     * @param keyBytes keys up to this length, namespace included, will be taken
     */
    public NearTriggers(long address, long bytes, int keyBytes) {
        keyBytesMax = (keyBytes + 7) & -8;
        int slotBytes = TriggerSlots.HEADER_BYTES + keyBytesMax;
        int perTrigger = slotBytes + SlotHeap.ENTRY_BYTES;
        int cells = cellsFor(bytes / (perTrigger + 2 * SlotIndex.CELL_BYTES));
        long indexBytes = (long) cells * SlotIndex.CELL_BYTES;
        capacity = (int) Math.min((bytes - indexBytes) / perTrigger, cells * 2L / 3);
        long heapAddress = address + (long) capacity * slotBytes;
        slots = new TriggerSlots(address, slotBytes, capacity);
        heap = new SlotHeap(heapAddress, slots);
        index = new SlotIndex(heapAddress + (long) capacity * SlotHeap.ENTRY_BYTES, cells, slots);
        order = new SlotOrder(slots);
    }

    /** A power of two of which at most two thirds will be in use. */
    private static int cellsFor(long triggers) {
        return Integer.highestOneBit((int) (triggers * 3 / 2)) * 2;
    }

    /** How many triggers there can be. */
    public int capacity() {
        return capacity;
    }

    /** Triggers that the tree has not. */
    public int waiting() {
        return heap.size();
    }

    public boolean isFull() {
        return slots.isFull();
    }

    /** Whether slots are long enough for the key. */
    public boolean takes(StateKey key) {
        return key.length() <= keyBytesMax;
    }

    private static long place(StateKey key) {
        return EntryKey.highOf(key.keyGroup(), key.hash());
    }

    /** The slot of a trigger, valid until the next change; {@link #ABSENT} if it is not here. */
    public int find(long timestamp, StateKey key) {
        return index.find(timestamp, place(key), key);
    }

    /**
     * Adds a trigger that is not here; there must be room, and the key be short enough. Returns its
     * slot.
     */
    public int addWaiting(long timestamp, StateKey key) {
        int slot = enter(timestamp, key);
        heap.add(slot);
        return slot;
    }

    /** As {@link #addWaiting}, of a trigger that the tree has. */
    public void addCopy(long timestamp, StateKey key) {
        enter(timestamp, key);
    }

    private int enter(long timestamp, StateKey key) {
        int slot = slots.add(timestamp, place(key), key);
        index.add(slot);
        return slot;
    }

    /** Whether the tree has the trigger, too. */
    public boolean isCopy(int slot) {
        return slots.position(slot) == TriggerSlots.COPY;
    }

    /** Whether a trigger waits in that slot, which may be any below {@link #end}. */
    public boolean isWaiting(int slot) {
        return slots.position(slot) >= 0;
    }

    /** One more than the highest slot that was in use. */
    public int end() {
        return slots.end();
    }

    /** Whether the redo log has heard of a trigger that waits. */
    public boolean isLogged(int slot) {
        return slots.isLogged(slot);
    }

    public void setLogged(int slot) {
        slots.setLogged(slot);
    }

    public void remove(int slot) {
        if (!isCopy(slot)) {
            heap.remove(slot);
        }
        forget(slot);
    }

    private void forget(int slot) {
        index.remove(slot);
        slots.free(slot);
    }

    /** The slot of the first of those that wait; there must be one. */
    public int first() {
        return heap.first();
    }

    /** The slots of the first of those that wait, in order, {@code max} at most. */
    public int[] firstOnes(int max) {
        return heap.firstOnes(max);
    }

    public long timestamp(int slot) {
        return slots.timestamp(slot);
    }

    public int keyGroup(int slot) {
        return slots.keyGroup(slot);
    }

    public void readKey(int slot, StateKey into) {
        slots.readKey(slot, into);
    }

    /** Whether a trigger fires before one that is not here. */
    public boolean isBefore(int slot, long timestamp, StateKey key) {
        return slots.compare(slot, timestamp, key) < 0;
    }

    // ---------------------------------------------------------------- making room

    /** Forgets all copies. */
    public void dropCopies() {
        if (waiting() == 0) {
            slots.clear();
            index.clear();
            return;
        }
        for (int slot = 0; slots.count() > waiting() && slot < slots.end(); slot++) {
            if (isCopy(slot)) {
                forget(slot);
            }
        }
    }

    /**
     * Takes all but the first {@code kept} of those that wait out of the heap, in the order of the
     * tree. The caller says for each what becomes of it: {@link #written}, {@link #writtenAway} or
     * {@link #waitOn}.
     */
    public int[] takeLatest(int kept) {
        int[] waiting = heap.takeAll();
        int rest = Math.min(kept, waiting.length);
        if (rest > 0) {
            order.selectFirst(waiting, rest);
        }
        for (int i = 0; i < rest; i++) {
            heap.add(waiting[i]);
        }
        return order.sortAsInTree(Arrays.copyOfRange(waiting, rest, waiting.length));
    }

    /**
     * Takes one that waits out of the heap. The caller says what becomes of it, as with {@link
     * #takeLatest}.
     */
    public void take(int slot) {
        heap.remove(slot);
    }

    /** The tree has it now; it stays as a copy. */
    public void written(int slot) {
        slots.setPosition(slot, TriggerSlots.COPY);
    }

    /** The tree has it now; it is here no longer. */
    public void writtenAway(int slot) {
        forget(slot);
    }

    /** The tree did not take it. */
    public void waitOn(int slot) {
        heap.add(slot);
    }
}
