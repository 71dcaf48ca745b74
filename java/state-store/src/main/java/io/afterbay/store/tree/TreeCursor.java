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
    private final EntryKey current = new EntryKey();
    private final StateKey key = new StateKey();
    private final Slice userKey = new Slice();
    private final Slice chainedKey = new Slice();
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
        current.high = firstHigh;
        current.low = 0;
    }

    /** Moves to the next entry; false at the end. */
    public boolean next() {
        if (tree.root() == 0) {
            return false;
        }
        seek();
        long page = search.leafAddress();
        while (search.slot >= Leaf.count(page)) {
            if (!search.hasUpper) {
                return false;
            }
            page = search.descend(search.upperHigh, search.upperLow);
            search.slot = 0;
        }
        if (Leaf.high(page, search.slot) > lastHigh) {
            search.slot--; // stays at the end
            return false;
        }
        take(page);
        version = tree.version();
        return true;
    }

    private void seek() {
        if (!started) {
            long page = search.descend(current.high, current.low);
            search.slot = Leaf.lowerBound(page, current.high, current.low, tree.wide());
            started = true;
        } else if (version == tree.version()) {
            search.slot++;
        } else {
            search.structureChanged();
            if (search.find(current)) {
                search.slot++;
            }
        }
    }

    private void take(long page) {
        current.high = Leaf.high(page, search.slot);
        current.low = Leaf.low(page, search.slot, tree.wide());
        long base = base();
        int keyLength = Record.keyLength(base);
        int namespaceLength = Record.namespaceLength(base);
        int userKeyLength = Record.userKeyLength(base);
        int length = keyLength + namespaceLength + userKeyLength;
        if (Record.isKeyChained(base)) {
            new ChainReader(tree.source(), Record.keyChain(base), length).read(chainedKey, length);
        } else {
            Memory.read(Record.keyAt(base), chainedKey.reset(length), 0, length);
        }
        key.setKey(EntryKey.keyGroup(current.high), chainedKey.array(), 0, keyLength);
        key.setNamespace(chainedKey.array(), keyLength, namespaceLength);
        userKey.set(chainedKey.array(), keyLength + namespaceLength, userKeyLength);
        current.key = key;
        current.userKey = userKey.array();
        current.userKeyLength = userKeyLength;
    }

    private long base() {
        return Record.base(Leaf.record(search.leafAddress(), search.slot), tree.wide());
    }

    /** Key group, key and namespace; overwritten by {@link #next}. */
    public StateKey key() {
        return key;
    }

    /** Overwritten by {@link #next}. */
    public Slice userKey() {
        return userKey;
    }

    /** Of trees of triggers. */
    public long timestamp() {
        return EntryKey.timestamp(current.high, current.low);
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
        if (tree.root() == 0 || !search.find(current)) {
            return false;
        }
        version = tree.version();
        return true;
    }
}
