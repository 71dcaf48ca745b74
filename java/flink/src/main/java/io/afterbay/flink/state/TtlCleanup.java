package io.afterbay.flink.state;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import io.afterbay.store.ListStore;
import io.afterbay.store.MapStore;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import java.util.Collection;
import java.util.List;
import org.apache.flink.runtime.state.StateEntry;
import org.apache.flink.runtime.state.internal.InternalKvState.StateIncrementalVisitor;
import org.jspecify.annotations.Nullable;

/**
 * One pass of the cleanup of expired entries over a state. Flink drives it: at every access (or
 * every record) it asks for a few entries, to drop what has expired.
 *
 * <p>We tell that from the stored bytes and drop it ourselves, without deserialising anything, and
 * hand nothing back. A list is rewritten only if at least half of it has expired: that keeps the
 * cost per element constant and the waste bounded.
 */
final class TtlCleanup<K, N, V> implements StateIncrementalVisitor<K, N, V> {
    private final StateContext<K> context;
    private final KvState<N, V> state;
    private final TtlFilter filter;
    private final int entriesPerStep;
    private final int lastKeyGroup;
    private final Slice element = new Slice();
    private int keyGroup;
    private @Nullable EntryCursor cursor;

    TtlCleanup(StateContext<K> context, KvState<N, V> state, TtlFilter filter, int entriesPerStep) {
        this.context = context;
        this.state = state;
        this.filter = filter;
        this.entriesPerStep = entriesPerStep;
        this.keyGroup = context.keyGroups().getStartKeyGroup();
        this.lastKeyGroup = context.keyGroups().getEndKeyGroup();
    }

    @Override
    public boolean hasNext() {
        return keyGroup <= lastKeyGroup;
    }

    /** Cleans up some entries; always empty, since nothing is left to do for the caller. */
    @Override
    public Collection<StateEntry<K, N, V>> nextEntries() {
        context.gate().pass();
        long now = context.ttlTime().currentTimestamp();
        for (int i = 0; i < entriesPerStep; i++) {
            EntryCursor at = advance();
            if (at == null) {
                break;
            }
            visit(at, now);
        }
        return List.of();
    }

    /** The cursor at the next entry, in this key group or a following one; null at the end. */
    private @Nullable EntryCursor advance() {
        while (hasNext()) {
            if (cursor == null) {
                cursor = state.scan(context.store(), keyGroup, keyGroup);
            }
            if (cursor.next()) {
                return cursor;
            }
            cursor.close();
            cursor = null;
            keyGroup++;
        }
        return null;
    }

    private void visit(EntryCursor at, long now) {
        switch (state.shape()) {
            case VALUE -> visitValue(at, now);
            case MAP -> visitMapEntry(at, now);
            case LIST -> visitList(at.key(), at.list(), now);
            default -> throw new IllegalStateException("no time to live in " + state.shape());
        }
    }

    private void visitValue(EntryCursor at, long now) {
        if (expired(at.value(), now)) {
            context.store().values(state.storeName()).remove(at.key());
        }
    }

    private void visitMapEntry(EntryCursor at, long now) {
        if (expired(at.value(), now)) {
            Slice userKey = at.userKey();
            MapStore maps = context.store().maps(state.storeName());
            maps.remove(at.key(), userKey.array(), userKey.length());
        }
    }

    private boolean expired(Slice value, long now) {
        return filter.expired(value.array(), value.length(), now);
    }

    private void visitList(StateKey key, ListReader list, long now) {
        long expired = countExpired(list, now);
        if (expired > 0 && expired * 2 >= list.size()) {
            rewrite(key, expired);
        }
    }

    /** Elements are appended in order of time: the first live one ends the expired part. */
    private long countExpired(ListReader list, long now) {
        ListReader.Elements elements = list.elements();
        long expired = 0;
        while (elements.next(element) && expired(element, now)) {
            expired++;
        }
        return expired;
    }

    /** The list without its first elements. */
    private void rewrite(StateKey key, long first) {
        ListStore lists = state.lists(context.store(), context.registry());
        ListReader list = lists.get(key);
        if (list == null) {
            return;
        }
        context.currentKey().readerHandedOut();
        lists.clear(key);
        ListReader.Elements elements = list.elements();
        for (long i = 0; elements.next(element); i++) {
            if (i >= first) {
                lists.append(key, element.array(), 0, element.length());
            }
        }
    }

    @Override
    public void remove(StateEntry<K, N, V> stateEntry) {
        throw new UnsupportedOperationException("this visitor hands out no entries");
    }

    @Override
    public void update(StateEntry<K, N, V> stateEntry, V newValue) {
        throw new UnsupportedOperationException("this visitor hands out no entries");
    }
}
