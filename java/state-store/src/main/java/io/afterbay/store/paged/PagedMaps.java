package io.afterbay.store.paged;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.MapStore;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.StateKind;
import io.afterbay.store.page.PageSource;
import io.afterbay.store.page.PageStore;
import io.afterbay.store.redo.RedoLog;
import io.afterbay.store.tree.ChainRef;
import io.afterbay.store.tree.Chains;
import io.afterbay.store.tree.EntryKey;
import io.afterbay.store.tree.Tree;
import io.afterbay.store.tree.TreeCursor;
import java.io.DataInput;
import java.io.IOException;

/** Entries by user key, in a tree in which those of one key and namespace are neighbours. */
final class PagedMaps implements MapStore, State {
    private final PageStore pages;
    private final Chains chains;
    private final Tree tree;
    private final EntryKey entry = new EntryKey();
    private final ChainRef chain = new ChainRef();
    private final RedoLog.OfState redo;

    PagedMaps(PageStore pages, Chains chains, RedoLog.OfState redo) {
        this.pages = pages;
        this.chains = chains;
        this.redo = redo;
        tree = new Tree(pages, chains, true);
    }

    @Override
    public boolean get(StateKey key, byte[] userKey, int length, Slice into) {
        pages.safepoint();
        if (!tree.find(entry.map(key, userKey, length))) {
            return false;
        }
        tree.readValue(into);
        return true;
    }

    @Override
    public boolean contains(StateKey key, byte[] userKey, int length) {
        pages.safepoint();
        return tree.find(entry.map(key, userKey, length));
    }

    @Override
    public void put(
            StateKey key, byte[] userKey, int userKeyLength, byte[] value, int offset, int length) {
        pages.safepoint();
        tree.put(entry.map(key, userKey, userKeyLength), value, offset, length);
        redo.mapPut(key, userKey, userKeyLength, value, offset, length);
    }

    @Override
    public boolean remove(StateKey key, byte[] userKey, int length) {
        if (!removeUnlogged(key, userKey, length)) {
            return false;
        }
        redo.mapRemoved(key, userKey, length);
        return true;
    }

    private boolean removeUnlogged(StateKey key, byte[] userKey, int length) {
        pages.safepoint();
        return PagedValues.removeWithChain(tree, chains, entry.map(key, userKey, length), chain);
    }

    @Override
    public EntryCursor entries(StateKey key) {
        return entries(key, FrozenState.Content.VALUES);
    }

    private EntryCursor entries(StateKey key, FrozenState.Content content) {
        long high = EntryKey.highOf(key.keyGroup(), key.hash());
        TreeCursor cursor = new TreeCursor(tree, high, high);
        return new StateCursor(cursor, content, pages, pages::safepoint, StateKey.copyOf(key));
    }

    @Override
    public boolean isEmpty(StateKey key) {
        return !entries(key, FrozenState.Content.KEYS).next();
    }

    @Override
    public void clear(StateKey key) {
        EntryCursor entries = entries(key, FrozenState.Content.KEYS);
        while (entries.next()) {
            removeUnlogged(entries.key(), entries.userKey().array(), entries.userKey().length());
        }
        redo.mapCleared(key);
    }

    @Override
    public EntryCursor scan(int firstKeyGroup, int lastKeyGroup) {
        return PagedValues.scan(
                tree, pages, FrozenState.Content.VALUES, firstKeyGroup, lastKeyGroup);
    }

    @Override
    public String shape() {
        return "maps";
    }

    @Override
    public void load(DataInput in) throws IOException {
        tree.load(in);
    }

    @Override
    public FrozenState freeze(PageSource snapshot) {
        return FrozenState.of(StateKind.MAPS, tree.freeze(snapshot));
    }

    @Override
    public void free() {
        tree.clear();
    }
}
