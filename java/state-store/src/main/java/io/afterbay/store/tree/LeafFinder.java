package io.afterbay.store.tree;

import io.afterbay.store.StateKey;
import io.afterbay.store.page.PageSource;
import org.jspecify.annotations.Nullable;

/**
 * Finds the leaves of a frozen tree without reading them: all are at the same depth, which the
 * first entry tells, so that inner pages are enough.
 */
public final class LeafFinder {
    private final FrozenTree tree;
    private final EntryKey entry = new EntryKey();

    /** Inner pages above each leaf. */
    private int levels;

    private @Nullable StateKey first;

    /** Of a tree that is not empty; reads the way to its first entry. */
    public LeafFinder(FrozenTree tree) {
        this.tree = tree;
    }

    /** The key of the first entry. */
    public StateKey first() {
        StateKey found = first;
        if (found == null) {
            Search search = new Search(tree);
            search.descend(0, 0);
            levels = search.levels;
            search.slot = 0;
            KeyCopy copy = new KeyCopy();
            copy.take(tree, search);
            found = copy.key();
            first = found;
        }
        return found;
    }

    /** The leaf with the entries of a key, or with the first of them. */
    public int leafOf(StateKey key) {
        first();
        entry.value(key);
        PageSource source = tree.source();
        int pageId = tree.root();
        for (int level = 0; level < levels; level++) {
            long page = source.address(pageId, level);
            pageId = Inner.child(page, Inner.indexOf(page, entry.high, entry.low, !tree.wide()));
        }
        return pageId;
    }
}
