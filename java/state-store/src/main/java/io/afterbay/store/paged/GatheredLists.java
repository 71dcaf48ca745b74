package io.afterbay.store.paged;

import io.afterbay.store.Hash;
import io.afterbay.store.ListReader;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.Varint;
import io.afterbay.store.paged.AppendLogs.Window;
import io.afterbay.store.tree.ChainRef;
import io.afterbay.store.tree.Chains;
import java.util.Arrays;

/**
 * The lists of one window and partition, gathered from its {@link AppendLogs log} to be read one
 * after the other: on the heap, bounded. Most are read once and cleared, so they never reach a
 * tree.
 *
 * <pre>
 *   table: hash -> list       lists                   elements                 data: the log as it was
 *   +---+                     +-------------------+   +----------------------+   +---------------------
 *   |   |-------------------->| key, first, last  |-->| offset, length, next |-->| ... key | element ...
 *   +---+                     +-------------------+   +----------------------+   +---------------------
 * </pre>
 *
 * <p>A hash table is enough: nobody asks for an order, and one of a partition's keys stays in the
 * processor's cache. A list that is removed stays in the table, without elements.
 */
final class GatheredLists {
    static final int ABSENT = -1;

    private static final int NONE = -1;

    /** Between checkpoints more is kept. */
    private static final int KEPT_BYTES_MAX = 256 << 10;

    // Fields of a list
    private static final int HASH = 0;
    private static final int KEY_GROUP = 1;
    private static final int KEY_AT = 2;
    private static final int KEY_LENGTH = 3;
    private static final int FIRST = 4;
    private static final int LAST = 5;
    private static final int SIZE = 6;
    private static final int BYTES = 7;
    private static final int LIST_FIELDS = 8;

    // Fields of an element
    private static final int OFFSET = 0;
    private static final int LENGTH = 1;
    private static final int NEXT = 2;
    private static final int ELEMENT_FIELDS = 3;

    private Window window = new Window(new byte[0], 0, 0);
    private byte[] data = new byte[0];
    private int[] lists = new int[LIST_FIELDS * 16];
    private int listCount;
    private int[] elements = new int[ELEMENT_FIELDS * 64];
    private int elementCount;

    /** Number of a list and one; 0 for none. At most half are in use. */
    private int[] table = new int[32];

    /** Lists that were not removed. */
    private int left;

    private final Readers readers;
    private final int bytesMax;

    /** Of the last reader that was handed out. */
    private long handedOutIn = Readers.NEVER;

    private final StateKey moved = new StateKey();
    private final Slice element = new Slice();

    /**
     * @param bytesMax the longest log that is gathered
     */
    GatheredLists(Readers readers, int bytesMax) {
        this.readers = readers;
        this.bytesMax = bytesMax;
    }

    boolean isEmpty() {
        return left == 0;
    }

    /** Of the lists. */
    Window window() {
        return window;
    }

    // ---------------------------------------------------------------- gathering

    /** Takes all elements of a log, in place of what was here, and frees it. */
    void gather(Window namespace, Chains chains, ChainRef log) {
        clear();
        window = namespace;
        int bytes = (int) log.bytes;
        if (data.length < bytes) {
            data = new byte[Math.max(bytes, Math.min(data.length * 2, bytesMax))];
        }
        chains.drain(log, data);
        int at = 0;
        while (at < bytes) {
            at = gatherNext(at);
        }
        left = listCount;
    }

    void clear() {
        left = 0;
        elementCount = 0;
        if (listCount > 0) {
            Arrays.fill(table, 0);
            listCount = 0;
        }
        if (readers.isHandedOut(handedOutIn)) {
            data = new byte[0];
            elements = new int[ELEMENT_FIELDS * 64];
        }
    }

    /** Gives up arrays that are large, if nothing is here. */
    void giveBack() {
        if (isEmpty() && data.length > KEPT_BYTES_MAX) {
            clear();
            data = new byte[0];
            lists = new int[LIST_FIELDS * 16];
            elements = new int[ELEMENT_FIELDS * 64];
            table = new int[32];
        }
    }

    private int gatherNext(int start) {
        int keyGroup = Varint.read(data, start);
        int at = start + Varint.bytes(keyGroup);
        int keyLength = Varint.read(data, at);
        at += Varint.bytes(keyLength);
        int length = Varint.read(data, at);
        int keyAt = at + Varint.bytes(length);
        append(listOf(keyGroup, keyAt, keyLength), keyAt + keyLength, length);
        return keyAt + keyLength + length;
    }

    private int listOf(int keyGroup, int keyAt, int keyLength) {
        int hash = hash(keyGroup, data, keyAt, keyLength);
        int cell = cellOf(hash, keyGroup, data, keyAt, keyLength);
        return table[cell] > 0
                ? (table[cell] - 1) * LIST_FIELDS
                : newList(cell, hash, keyGroup, keyAt, keyLength);
    }

    private int newList(int cell, int hash, int keyGroup, int keyAt, int keyLength) {
        int list = listCount * LIST_FIELDS;
        if (list == lists.length) {
            lists = Arrays.copyOf(lists, list * 2);
        }
        lists[list + HASH] = hash;
        lists[list + KEY_GROUP] = keyGroup;
        lists[list + KEY_AT] = keyAt;
        lists[list + KEY_LENGTH] = keyLength;
        lists[list + FIRST] = NONE;
        lists[list + SIZE] = 0;
        lists[list + BYTES] = 0;
        table[cell] = ++listCount;
        if (listCount * 2 > table.length) {
            enlargeTable();
        }
        return list;
    }

    private void enlargeTable() {
        table = new int[table.length * 2];
        for (int number = 0; number < listCount; number++) {
            int cell = home(lists[number * LIST_FIELDS + HASH]);
            while (table[cell] != 0) {
                cell = cell + 1 & table.length - 1;
            }
            table[cell] = number + 1;
        }
    }

    private void append(int list, int offset, int length) {
        int element = elementCount++ * ELEMENT_FIELDS;
        if (element == elements.length) {
            elements = Arrays.copyOf(elements, element * 2);
        }
        elements[element + OFFSET] = offset;
        elements[element + LENGTH] = length;
        elements[element + NEXT] = NONE;
        if (lists[list + FIRST] == NONE) {
            lists[list + FIRST] = element;
        } else {
            elements[lists[list + LAST] + NEXT] = element;
        }
        lists[list + LAST] = element;
        lists[list + SIZE]++;
        lists[list + BYTES] += length;
    }

    // ---------------------------------------------------------------- finding

    private static int hash(int keyGroup, byte[] key, int offset, int length) {
        return (int) (Hash.of(key, offset, length, keyGroup) >>> 32);
    }

    private int home(int hash) {
        return hash & table.length - 1;
    }

    /** Where the list is, or an empty cell where it belongs. */
    private int cellOf(int hash, int keyGroup, byte[] key, int offset, int length) {
        int cell = home(hash);
        while (table[cell] != 0) {
            int list = (table[cell] - 1) * LIST_FIELDS;
            if (lists[list + HASH] == hash && hasKey(list, keyGroup, key, offset, length)) {
                break;
            }
            cell = cell + 1 & table.length - 1;
        }
        return cell;
    }

    private boolean hasKey(int list, int keyGroup, byte[] key, int offset, int length) {
        int at = lists[list + KEY_AT];
        return lists[list + KEY_GROUP] == keyGroup
                && Arrays.equals(
                        data, at, at + lists[list + KEY_LENGTH], key, offset, offset + length);
    }

    /** A list that is here, valid until the next change; {@link #ABSENT} if it is not. */
    int find(StateKey key) {
        if (left == 0 || !window.isNamespaceOf(key)) {
            return ABSENT;
        }
        int hash = hash(key.keyGroup(), key.bytes(), 0, key.keyLength());
        int number = table[cellOf(hash, key.keyGroup(), key.bytes(), 0, key.keyLength())] - 1;
        return number < 0 || lists[number * LIST_FIELDS + SIZE] == 0
                ? ABSENT
                : number * LIST_FIELDS;
    }

    // ---------------------------------------------------------------- reading

    /** Shows the list until readers are released, whatever becomes of it here. */
    ListReader read(int list) {
        handedOutIn = readers.handOut();
        return new Reader(
                readers,
                handedOutIn,
                data,
                elements,
                lists[list + FIRST],
                lists[list + SIZE],
                lists[list + BYTES]);
    }

    void remove(int list) {
        lists[list + SIZE] = 0;
        left--;
    }

    /**
     * Removes a list and adds its elements to a batch, which goes to {@code sink} when it is full.
     */
    void moveTo(RegroupBatch batch, int list, AppendLogs.Sink sink) {
        moved.setKey(lists[list + KEY_GROUP], data, lists[list + KEY_AT], lists[list + KEY_LENGTH]);
        moved.setNamespace(window.bytes, window.offset, window.length);
        for (int at = lists[list + FIRST]; at != NONE; at = elements[at + NEXT]) {
            element.set(data, elements[at + OFFSET], elements[at + LENGTH]);
            if (!batch.fits(element.length())) {
                batch.drainTo(window, sink);
            }
            batch.add(moved, element);
        }
        element.release();
        remove(list);
    }

    /** As {@link #moveTo}, of all lists that are left. */
    void moveAllTo(RegroupBatch batch, AppendLogs.Sink sink) {
        for (int list = 0; left > 0; list += LIST_FIELDS) {
            if (lists[list + SIZE] > 0) {
                moveTo(batch, list, sink);
            }
        }
    }

    /** Holds the arrays, which are given up rather than used again while it may be read. */
    private record Reader(
            Readers readers,
            long madeIn,
            byte[] data,
            int[] links,
            int first,
            long size,
            long bytes)
            implements ListReader {
        @Override
        public Elements elements() {
            return new Pass(this);
        }
    }

    private static final class Pass implements ListReader.Elements {
        private final Reader list;
        private int at;

        Pass(Reader list) {
            this.list = list;
            at = list.first;
        }

        @Override
        public boolean next(Slice into) {
            list.readers.check(list.madeIn);
            if (at == NONE) {
                return false;
            }
            into.set(list.data, list.links[at + OFFSET], list.links[at + LENGTH]);
            at = list.links[at + NEXT];
            return true;
        }
    }
}
