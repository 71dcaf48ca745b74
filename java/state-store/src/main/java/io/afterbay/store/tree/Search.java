package io.afterbay.store.tree;

import io.afterbay.store.Slice;
import io.afterbay.store.page.PageSource;
import java.util.Arrays;

/**
 * The way from the root of a tree to a slot of a leaf. Remembers the leaf and its range of keys, so
 * that a search for a neighbour (or for the same key again) skips the way down.
 */
final class Search {
    static final int MAX_LEVELS = PageSource.SLOTS - 2;

    private final TreeView tree;
    private final Slice chainedKey = new Slice();

    final int[] pathPages = new int[MAX_LEVELS];
    final int[] pathIndexes = new int[MAX_LEVELS];
    int levels;
    int leaf;
    int slot;

    private boolean hasLow;
    private long lowHigh;
    private long lowLow;
    boolean hasUpper;
    long upperHigh;
    long upperLow;
    private long structure = -1;
    private long structureNow;

    Search(TreeView tree) {
        this.tree = tree;
    }

    /** Leaves have split, merged or gone: what is remembered counts no more. */
    void structureChanged() {
        structureNow++;
    }

    /** The address of the leaf in whose range a key falls; the tree must not be empty. */
    long leafOf(long high, long low) {
        if (structure == structureNow && isInRange(high, low)) {
            return leafAddress();
        }
        return descend(high, low);
    }

    long leafAddress() {
        return tree.source().address(leaf, levels);
    }

    private boolean isInRange(long high, long low) {
        return (!hasLow || EntryKey.compare(lowHigh, lowLow, high, low) <= 0)
                && (!hasUpper || EntryKey.compare(high, low, upperHigh, upperLow) < 0);
    }

    /** Goes down from the root and records the path. */
    long descend(long high, long low) {
        hasLow = false;
        hasUpper = false;
        levels = 0;
        int pageId = tree.root();
        long page = tree.source().address(pageId, 0);
        while (!Leaf.isLeaf(page)) {
            int index = Inner.indexOf(page, high, low, !tree.wide());
            narrow(page, index);
            pathPages[levels] = pageId;
            pathIndexes[levels] = index;
            levels++;
            pageId = Inner.child(page, index);
            page = tree.source().address(pageId, levels);
        }
        leaf = pageId;
        structure = structureNow;
        return page;
    }

    private void narrow(long page, int index) {
        if (index > 0) {
            hasLow = true;
            lowHigh = Inner.high(page, index);
            lowLow = Inner.low(page, index);
        }
        if (index + 1 < Inner.count(page)) {
            hasUpper = true;
            upperHigh = Inner.high(page, index + 1);
            upperLow = Inner.low(page, index + 1);
        }
    }

    /**
     * From behind the last slot of a leaf moves on to the next leaf; false at the end of the tree.
     */
    boolean skipToEntry() {
        long page = leafAddress();
        while (slot >= Leaf.count(page)) {
            if (!hasUpper) {
                return false;
            }
            page = descend(upperHigh, upperLow);
            slot = 0;
        }
        return true;
    }

    /**
     * Sets {@link #slot} to the entry with this key, or to where it belongs; whether it is there.
     */
    boolean find(EntryKey key) {
        long page = leafOf(key.high, key.low);
        if (isAt(page, key)) {
            return true;
        }
        page = leafAddress(); // the comparison may have passed a safepoint
        slot = Leaf.lowerBound(page, key.high, key.low, tree.wide());
        while (slot < Leaf.count(page) && isSameSortKey(page, key)) {
            int order = compareKey(page, key);
            if (order >= 0) {
                return order == 0;
            }
            slot++;
            page = leafAddress();
        }
        return false;
    }

    /** Whether the position is at this very entry, as when a value is written after it was read. */
    private boolean isAt(long page, EntryKey key) {
        return slot < Leaf.count(page) && isSameSortKey(page, key) && compareKey(page, key) == 0;
    }

    private boolean isSameSortKey(long page, EntryKey key) {
        return Leaf.high(page, slot) == key.high && Leaf.low(page, slot, tree.wide()) == key.low;
    }

    /** May pass a safepoint if the key is chained. */
    private int compareKey(long page, EntryKey key) {
        long base = Record.base(Leaf.record(page, slot), tree.wide());
        int order = Record.compareLengths(base, key);
        if (order != 0) {
            return order;
        }
        return Record.isKeyChained(base)
                ? compareChained(base, key)
                : Record.compareInlineKey(base, key);
    }

    private int compareChained(long base, EntryKey key) {
        int length = key.keyBytes();
        ChainReader reader = new ChainReader(tree.source(), Record.keyChain(base), length);
        reader.read(chainedKey, length);
        byte[] there = chainedKey.array();
        int state = key.key.length();
        int order = Arrays.compareUnsigned(there, 0, state, key.key.bytes(), 0, state);
        return order != 0
                ? order
                : Arrays.compareUnsigned(there, state, length, key.userKey, 0, key.userKeyLength);
    }
}
