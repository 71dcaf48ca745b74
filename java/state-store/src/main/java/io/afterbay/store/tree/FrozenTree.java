package io.afterbay.store.tree;

import io.afterbay.store.page.PageSource;

/** A tree in a snapshot. */
public record FrozenTree(PageSource source, int root, boolean wide) implements TreeView {
    @Override
    public long version() {
        return 0;
    }
}
