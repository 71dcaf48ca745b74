package io.afterbay.store.paged;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.StateKind;
import io.afterbay.store.ValueStore;
import io.afterbay.store.page.PageSource;
import io.afterbay.store.page.PageStore;
import io.afterbay.store.tree.ChainRef;
import io.afterbay.store.tree.Chains;
import io.afterbay.store.tree.EntryKey;
import io.afterbay.store.tree.Tree;
import io.afterbay.store.tree.TreeCursor;
import java.io.DataInput;
import java.io.IOException;

/**
 * One value per key and namespace, in a tree; updated in place. Not logged: {@link HotValues} does.
 */
final class PagedValues implements ValueStore, State {
    private final PageStore pages;
    private final Chains chains;
    private final Tree tree;
    private final AbsenceFilter filter;
    private final EntryKey entry = new EntryKey();
    private final ChainRef chain = new ChainRef();

    PagedValues(PageStore pages, Chains chains) {
        this.pages = pages;
        this.chains = chains;
        tree = new Tree(pages, chains, false);
        filter = new AbsenceFilter(pages, tree);
    }

    @Override
    public boolean get(StateKey key, Slice into) {
        pages.safepoint();
        if (!filter.mayHold(entry.value(key)) || !tree.find(entry)) {
            return false;
        }
        tree.readValue(into);
        return true;
    }

    @Override
    public void put(StateKey key, byte[] value, int offset, int length) {
        pages.safepoint();
        filter.comes(entry.value(key));
        tree.put(entry, value, offset, length);
    }

    @Override
    public boolean remove(StateKey key) {
        pages.safepoint();
        return filter.mayHold(entry.value(key)) && removeWithChain(tree, chains, entry, chain);
    }

    static boolean removeWithChain(Tree tree, Chains chains, EntryKey entry, ChainRef chain) {
        if (!tree.find(entry)) {
            return false;
        }
        int head = 0;
        if (tree.isValueChained()) {
            tree.readChain(chain);
            head = chain.head;
        }
        tree.remove(entry);
        chains.free(head);
        return true;
    }

    @Override
    public EntryCursor scan(int firstKeyGroup, int lastKeyGroup) {
        return scan(firstKeyGroup, lastKeyGroup, () -> {});
    }

    /**
     * @param beforeMove runs before each move of the cursor
     */
    EntryCursor scan(int firstKeyGroup, int lastKeyGroup, Runnable beforeMove) {
        return scan(
                tree, pages, FrozenState.Content.VALUES, firstKeyGroup, lastKeyGroup, beforeMove);
    }

    static EntryCursor scan(
            Tree tree,
            PageStore pages,
            FrozenState.Content content,
            int firstKeyGroup,
            int lastKeyGroup) {
        return scan(tree, pages, content, firstKeyGroup, lastKeyGroup, () -> {});
    }

    static EntryCursor scan(
            Tree tree,
            PageStore pages,
            FrozenState.Content content,
            int firstKeyGroup,
            int lastKeyGroup,
            Runnable beforeMove) {
        TreeCursor cursor =
                new TreeCursor(
                        tree, (long) firstKeyGroup << 48, ((long) lastKeyGroup + 1 << 48) - 1);
        Runnable before =
                () -> {
                    beforeMove.run();
                    pages.safepoint();
                };
        return new StateCursor(cursor, content, pages, before, null);
    }

    @Override
    public String shape() {
        return "values";
    }

    @Override
    public void load(DataInput in) throws IOException {
        filter.end();
        tree.load(in);
    }

    @Override
    public FrozenState freeze(PageSource snapshot) {
        return FrozenState.of(StateKind.VALUES, tree.freeze(snapshot));
    }

    @Override
    public void giveBack() {
        filter.giveBack();
    }

    @Override
    public void free() {
        filter.end();
        tree.clear();
    }

    @Override
    public void close() {
        filter.end();
    }
}
