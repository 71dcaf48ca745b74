package io.afterbay.store.tree;

import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.page.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Walks a range of a tree in order. The tree may change meanwhile: the cursor then finds its place
 * again by the key of the last entry. On the live tree, the owner passes a safepoint before each
 * {@link #next}.
 */
public final class TreeCursor {
    private final TreeView tree;
    private final Search search;
    private final long lastHigh;
    private final KeyCopy current = new KeyCopy();
    private boolean started;
    private long version;

    /** Entries whose {@code high} is from {@code firstHigh} to {@code lastHigh}, inclusive. */
    public TreeCursor(Tree tree, long firstHigh, long lastHigh) {
        this((TreeView) tree, firstHigh, lastHigh);
    }

    /** As on a live tree. */
    public TreeCursor(FrozenTree tree, long firstHigh, long lastHigh) {
        this((TreeView) tree, firstHigh, lastHigh);
    }

    private TreeCursor(TreeView tree, long firstHigh, long lastHigh) {
        this.tree = tree;
        this.lastHigh = lastHigh;
        search = new Search(tree);
        current.entry.high = firstHigh;
        current.entry.low = 0;
    }

    /** Moves to the next entry; false at the end. */
    public boolean next() {
        if (tree.root() == 0) {
            return false;
        }
        seek();
        if (!search.skipToEntry()) {
            return false;
        }
        if (Leaf.high(search.leafAddress(), search.slot) > lastHigh) {
            search.slot--; // stays at the end
            return false;
        }
        current.take(tree, search);
        version = tree.version();
        return true;
    }

    private void seek() {
        if (!started) {
            long page = search.descend(current.entry.high, current.entry.low);
            search.slot = Leaf.lowerBound(page, current.entry.high, current.entry.low, tree.wide());
            started = true;
        } else if (version == tree.version()) {
            search.slot++;
        } else {
            search.structureChanged();
            if (search.find(current.entry)) {
                search.slot++;
            }
        }
    }

    private long base() {
        return Record.base(Leaf.record(search.leafAddress(), search.slot), tree.wide());
    }

    /** Key group, key and namespace; overwritten by {@link #next}. */
    public StateKey key() {
        return current.key();
    }

    /** Overwritten by {@link #next}. */
    public Slice userKey() {
        return current.userKey();
    }

    /** Of trees of triggers. */
    public long timestamp() {
        return current.timestamp();
    }

    /** The value as it is now; false if the entry has gone since {@link #next}. */
    public boolean readValue(Slice into) {
        if (!refresh()) {
            return false;
        }
        long base = base();
        if (Record.isValueChained(base)) {
            ChainRef chain = ChainRef.read(Record.valueAt(base));
            new ChainReader(tree.source(), chain.head, chain.bytes).read(into, (int) chain.bytes);
        } else {
            int length = Record.valueLength(base);
            Memory.read(Record.valueAt(base), into.reset(length), 0, length);
        }
        return true;
    }

    /** The chain that is the value; null if the value is short. Call {@link #readValue} then. */
    public @Nullable ChainRef chain() {
        if (!refresh()) {
            return null;
        }
        long base = base();
        return Record.isValueChained(base) ? ChainRef.read(Record.valueAt(base)) : null;
    }

    /** Finds the entry again if the tree has changed. */
    private boolean refresh() {
        if (version == tree.version()) {
            return true;
        }
        search.structureChanged();
        if (tree.root() == 0 || !search.find(current.entry)) {
            return false;
        }
        version = tree.version();
        return true;
    }
}
