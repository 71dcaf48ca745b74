package io.afterbay.store.paged;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.page.PageSource;
import io.afterbay.store.tree.FrozenTree;
import io.afterbay.store.tree.TreeCursor;
import java.util.List;
import java.util.Map;

/**
 * A state in a snapshot.
 *
 * @param logs elements that were appended and not regrouped yet; of aligned lists only
 */
record FrozenState(Kind kind, FrozenTree tree, Map<AppendLogs.Window, List<AppendLogs.Log>> logs) {
    /** What the entries of a tree are. */
    enum Kind {
        VALUES,
        LISTS,
        TRIGGERS,
        /** Of any shape; nothing but the keys is of interest. */
        KEYS
    }

    static FrozenState of(Kind kind, FrozenTree tree) {
        return new FrozenState(kind, tree, Map.of());
    }

    private PageSource source() {
        return tree.source();
    }

    EntryCursor fragments(int keyGroup) {
        EntryCursor entries = treeEntries(keyGroup, 0, -1L >>> 16);
        return logs.isEmpty()
                ? entries
                : new ConcatenatedCursor(entries, new LogCursor(source(), logs, keyGroup));
    }

    EntryCursor entries(int keyGroup) {
        return logs.isEmpty()
                ? fragments(keyGroup)
                : new RegroupingCursor(this, source(), logs, keyGroup);
    }

    /** Entries of a range of 48-bit hashes. */
    EntryCursor treeEntries(int keyGroup, long firstHash, long lastHash) {
        long base = (long) keyGroup << 48;
        TreeCursor cursor = new TreeCursor(tree, base | firstHash, base | lastHash);
        return new StateCursor(cursor, kind, source(), () -> {}, null);
    }
}
