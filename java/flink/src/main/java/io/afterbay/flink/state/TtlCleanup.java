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
 * The cleanup of expired entries of a state. Flink drives it: at every access (or every record) it
 * asks for a few entries, to drop what has expired.
 *
 * <p>We tell that from the stored bytes and drop it ourselves, without deserialising anything, and
 * hand nothing back. Pass follows pass over the state; a pass notes the oldest entry it leaves
 * behind, and the next one waits until that can have expired, and at least a quarter of the time to
 * live: so an expired entry stays for at most that and the length of a pass, and a state of which
 * nothing expires costs nothing.
 *
 * <p>A list is rewritten only if at least half of it has expired: that keeps the cost per element
 * constant and the waste bounded.
 */
final class TtlCleanup<K, N, V> implements StateIncrementalVisitor<K, N, V> {
    private final StateContext<K> context;
    private final KvState<N, V> state;
    private final TtlFilter filter;
    private final int entriesPerStep;
    private final int lastKeyGroup;
    private final Slice element = new Slice();
    private final int firstKeyGroup;
    private int keyGroup;
    private @Nullable EntryCursor cursor;
    private long passStart = Long.MIN_VALUE;
    private long nextPass = Long.MIN_VALUE;

    /** The least timestamp that this pass has left in the state. */
    private long oldest = Long.MAX_VALUE;

    TtlCleanup(StateContext<K> context, KvState<N, V> state, TtlFilter filter, int entriesPerStep) {
        this.context = context;
        this.state = state;
        this.filter = filter;
        this.entriesPerStep = entriesPerStep;
        this.firstKeyGroup = context.keyGroups().getStartKeyGroup();
        this.lastKeyGroup = context.keyGroups().getEndKeyGroup();
        this.keyGroup = lastKeyGroup + 1;
    }

    /** There is always another pass. */
    @Override
    public boolean hasNext() {
        return true;
    }

    /** Cleans up some entries; always empty, since nothing is left to do for the caller. */
    @Override
    public Collection<StateEntry<K, N, V>> nextEntries() {
        context.gate().pass();
        long now = context.ttlTime().currentTimestamp();
        if (inPass() || beginPass(now)) {
            step(now);
        }
        return List.of();
    }

    private boolean inPass() {
        return keyGroup <= lastKeyGroup;
    }

    private boolean beginPass(long now) {
        if (now < nextPass) {
            return false;
        }
        context.objects().writeBack();
        keyGroup = firstKeyGroup;
        passStart = now;
        oldest = now;
        return true;
    }

    private void step(long now) {
        for (int i = 0; i < entriesPerStep; i++) {
            EntryCursor at = advance();
            if (at == null) {
                endPass();
                return;
            }
            visit(at, now);
        }
    }

    private void endPass() {
        nextPass =
                Math.max(
                        saturatedAdd(oldest, filter.ttlMillis()),
                        saturatedAdd(passStart, filter.ttlMillis() / 4));
    }

    private static long saturatedAdd(long time, long millis) {
        return time > Long.MAX_VALUE - millis ? Long.MAX_VALUE : time + millis;
    }

    /** The cursor at the next entry, in this key group or a following one; null at the end. */
    private @Nullable EntryCursor advance() {
        while (inPass()) {
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
        if (!expired(at.value(), now)) {
            return;
        }
        ObjectCache<?, ?, ?> objects = context.objects().of(state);
        if (objects == null || objects.forgetExpired(at.key())) {
            context.store().values(state.storeName()).remove(at.key());
        } else {
            oldest = Math.min(oldest, now - filter.ttlMillis()); // what replaces it is unknown
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
        long timestamp = filter.timestamp(value.array(), value.length());
        boolean expired = filter.expired(timestamp, now);
        if (!expired) {
            oldest = Math.min(oldest, timestamp);
        }
        return expired;
    }

    private void visitList(StateKey key, ListReader list, long now) {
        long expired = countExpired(list, now);
        if (expired > 0 && expired * 2 >= list.size()) {
            rewrite(key, expired);
        } else if (expired > 0) {
            oldest = Long.MIN_VALUE / 2; // the next pass must not wait for it
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
        state.countRemoval();
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
