package io.afterbay.flink.snapshot;

import io.afterbay.flink.state.EmptyCursor;
import io.afterbay.store.EntryCursor;
import io.afterbay.store.StoreImage;
import io.afterbay.store.StoreSnapshot;
import java.io.OutputStream;

/** The snapshot of a store that has nothing. */
enum NoEntries implements StoreSnapshot {
    INSTANCE;

    @Override
    public EntryCursor entries(String state, int keyGroup) {
        return EmptyCursor.INSTANCE;
    }

    @Override
    public EntryCursor fragments(String state, int keyGroup) {
        return EmptyCursor.INSTANCE;
    }

    @Override
    public StoreImage image(OutputStream index) {
        throw new UnsupportedOperationException("there is no store");
    }

    @Override
    public void close() {}
}
