package io.afterbay.store.tree;

import io.afterbay.store.page.PageSource;
import java.io.DataOutput;
import java.io.IOException;

/**
 * A tree in a snapshot.
 *
 * @param size number of entries
 */
public record FrozenTree(PageSource source, int root, boolean wide, long size) implements TreeView {
    /** Root page 4, entries 8: what {@link Tree#load} reads. */
    public void writeRoot(DataOutput out) throws IOException {
        out.writeInt(root);
        out.writeLong(size);
    }

    @Override
    public long version() {
        return 0;
    }
}
