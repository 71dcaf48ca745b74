package io.afterbay.store.paged;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.StateKind;
import io.afterbay.store.page.PageSource;
import io.afterbay.store.tree.FrozenTree;
import io.afterbay.store.tree.TreeCursor;
import java.io.DataOutput;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A state in a snapshot.
 *
 * @param logs elements that were appended and not regrouped yet; of aligned lists only
 * @param heads of triggers only
 */
record FrozenState(
        StateKind kind,
        FrozenTree tree,
        @Nullable Map<AppendLogs.Window, List<AppendLogs.Log>> logs,
        @Nullable TriggerHeads heads) {
    /** What a cursor takes from the entries of a tree. */
    enum Content {
        VALUES,
        LISTS,
        TRIGGERS,
        /** Of any state; nothing but the keys is of interest. */
        KEYS;

        static Content of(StateKind kind) {
            return switch (kind) {
                case VALUES, MAPS -> VALUES;
                case ALIGNED_LISTS, UNALIGNED_LISTS -> LISTS;
                case TRIGGERS -> TRIGGERS;
            };
        }
    }

    static FrozenState of(StateKind kind, FrozenTree tree) {
        return new FrozenState(kind, tree, null, null);
    }

    /** What is not on pages: what {@link State#load} reads. */
    void writeRoot(DataOutput out) throws IOException {
        tree.writeRoot(out);
        if (logs != null) {
            AppendLogs.save(logs, out);
        }
        if (heads != null) {
            heads.save(out);
        }
    }

    private PageSource source() {
        return tree.source();
    }

    EntryCursor fragments(int keyGroup) {
        EntryCursor entries = treeEntries(keyGroup, 0, -1L >>> 16);
        return logs == null || logs.isEmpty()
                ? entries
                : new ConcatenatedCursor(entries, new LogCursor(source(), logs, keyGroup));
    }

    EntryCursor entries(int keyGroup) {
        return logs == null || logs.isEmpty()
                ? fragments(keyGroup)
                : new RegroupingCursor(this, source(), logs, keyGroup);
    }

    /** Entries of a range of 48-bit hashes. */
    EntryCursor treeEntries(int keyGroup, long firstHash, long lastHash) {
        long base = (long) keyGroup << 48;
        TreeCursor cursor = new TreeCursor(tree, base | firstHash, base | lastHash);
        return new StateCursor(cursor, Content.of(kind), source(), () -> {}, null);
    }
}
