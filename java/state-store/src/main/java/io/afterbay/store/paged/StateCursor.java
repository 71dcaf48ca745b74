package io.afterbay.store.paged;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.page.PageSource;
import io.afterbay.store.tree.ChainRef;
import io.afterbay.store.tree.TreeCursor;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The entries of a range of a tree. */
final class StateCursor implements EntryCursor {
    private final TreeCursor entries;
    private final FrozenState.Content content;
    private final PageSource source;
    private final Runnable beforeMove;
    private final @Nullable StateKey only;
    private final Slice value = new Slice();

    /**
     * @param beforeMove runs before each move: a safepoint on a live store
     * @param only entries of other keys are skipped, unless null
     */
    StateCursor(
            TreeCursor entries,
            FrozenState.Content content,
            PageSource source,
            Runnable beforeMove,
            @Nullable StateKey only) {
        this.entries = entries;
        this.content = content;
        this.source = source;
        this.beforeMove = beforeMove;
        this.only = only;
    }

    @Override
    public boolean next() {
        for (; ; ) {
            beforeMove.run();
            if (!entries.next()) {
                return false;
            }
            if ((only == null || sameKey(only, entries.key()))
                    && (content != FrozenState.Content.VALUES || entries.readValue(value))) {
                return true;
            }
        }
    }

    /** Only entries with equal hashes come here, so this is about collisions. */
    static boolean sameKey(StateKey a, StateKey b) {
        return a.keyLength() == b.keyLength()
                && Arrays.equals(a.bytes(), 0, a.length(), b.bytes(), 0, b.length());
    }

    @Override
    public StateKey key() {
        return entries.key();
    }

    @Override
    public Slice userKey() {
        return entries.userKey();
    }

    @Override
    public Slice value() {
        return value;
    }

    @Override
    public ListReader list() {
        beforeMove.run();
        ChainRef chain = entries.chain();
        if (chain != null) {
            return new ChainListReader(source, chain);
        }
        if (!entries.readValue(value)) {
            value.reset(0);
        }
        return InlineListReader.of(value.toByteArray());
    }

    @Override
    public long timestamp() {
        return entries.timestamp();
    }

    @Override
    public void close() {}
}
