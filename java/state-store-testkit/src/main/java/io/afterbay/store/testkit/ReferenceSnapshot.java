package io.afterbay.store.testkit;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.StoreImage;
import io.afterbay.store.StoreSnapshot;
import java.io.OutputStream;
import java.util.Collections;
import java.util.Iterator;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/** Deep copies of all states. */
final class ReferenceSnapshot implements StoreSnapshot {
    private final Map<String, FrozenState> states;
    private final BooleanSupplier storeOpen;
    private volatile boolean closed;

    ReferenceSnapshot(Map<String, FrozenState> states, BooleanSupplier storeOpen) {
        this.states = states;
        this.storeOpen = storeOpen;
    }

    @Override
    public EntryCursor entries(String state, int keyGroup) {
        return cursor(state, frozen -> frozen.entries(keyGroup));
    }

    @Override
    public EntryCursor fragments(String state, int keyGroup) {
        return cursor(state, frozen -> frozen.fragments(keyGroup));
    }

    private EntryCursor cursor(String state, Function<FrozenState, Iterator<Row>> rows) {
        if (!isOpen()) {
            throw new IllegalStateException("the snapshot, or its store, is closed");
        }
        FrozenState frozen = states.get(state);
        return new ReferenceCursor(
                frozen == null ? Collections.emptyIterator() : rows.apply(frozen), this::isOpen);
    }

    private boolean isOpen() {
        return !closed && storeOpen.getAsBoolean();
    }

    @Override
    public StoreImage image(OutputStream index) {
        throw new UnsupportedOperationException("a model of content has no files");
    }

    @Override
    public void close() {
        closed = true;
    }
}
