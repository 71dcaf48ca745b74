package io.afterbay.store.tree;

import io.afterbay.store.page.PageSource;

/** A tree that can be searched: the live one, or one in a snapshot. */
interface TreeView {
    PageSource source();

    /** Root page; 0 if the tree is empty. */
    int root();

    /** Whether records have a {@code low}. */
    boolean wide();

    /** Changes with every change of entries or pages. */
    long version();
}
