package io.afterbay.store.tree;

import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.page.Memory;

/** The key of an entry, copied out of the tree; reused. */
public final class KeyCopy {
    final EntryKey entry = new EntryKey();
    private final StateKey key = new StateKey();
    private final Slice userKey = new Slice();
    private final Slice bytes = new Slice();

    /** Key group, key and namespace. */
    public StateKey key() {
        return key;
    }

    public Slice userKey() {
        return userKey;
    }

    /** Of entries of triggers. */
    public long timestamp() {
        return EntryKey.timestamp(entry.high, entry.low);
    }

    /** Passes safepoints if the key is long. */
    void take(TreeView tree, Search search) {
        long page = search.leafAddress();
        entry.high = Leaf.high(page, search.slot);
        entry.low = Leaf.low(page, search.slot, tree.wide());
        long base = Record.base(Leaf.record(page, search.slot), tree.wide());
        int keyLength = Record.keyLength(base);
        int namespaceLength = Record.namespaceLength(base);
        int userKeyLength = Record.userKeyLength(base);
        int length = keyLength + namespaceLength + userKeyLength;
        if (Record.isKeyChained(base)) {
            new ChainReader(tree.source(), Record.keyChain(base), length).read(bytes, length);
        } else {
            Memory.read(Record.keyAt(base), bytes.reset(length), 0, length);
        }
        key.setKey(EntryKey.keyGroup(entry.high), bytes.array(), 0, keyLength);
        key.setNamespace(bytes.array(), keyLength, namespaceLength);
        userKey.set(bytes.array(), keyLength + namespaceLength, userKeyLength);
        entry.key = key;
        entry.userKey = userKey.array();
        entry.userKeyLength = userKeyLength;
    }
}
