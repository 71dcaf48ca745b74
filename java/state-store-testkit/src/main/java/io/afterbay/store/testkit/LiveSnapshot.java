package io.afterbay.store.testkit;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.StateStore;
import io.afterbay.store.StoreImage;
import io.afterbay.store.StoreSnapshot;
import java.io.OutputStream;
import java.util.Map;

/** A snapshot that is none: reads the store as it is by now. */
final class LiveSnapshot implements StoreSnapshot {
    private final StateStore store;
    private final Map<String, Shape> shapes;
    private final StoreSnapshot real;

    LiveSnapshot(StateStore store, Map<String, Shape> shapes, StoreSnapshot real) {
        this.store = store;
        this.shapes = shapes;
        this.real = real;
    }

    @Override
    public EntryCursor entries(String state, int keyGroup) {
        Shape shape = shapes.get(state);
        if (shape == null) {
            return real.entries(state, keyGroup);
        }
        return switch (shape) {
            case VALUES -> store.values(state).scan(keyGroup, keyGroup);
            case LISTS -> store.lists(state, ReadAlignment.UNALIGNED).scan(keyGroup, keyGroup);
            case MAPS -> store.maps(state).scan(keyGroup, keyGroup);
            case TRIGGERS -> store.triggers(state).scan(keyGroup, keyGroup);
        };
    }

    @Override
    public EntryCursor fragments(String state, int keyGroup) {
        return entries(state, keyGroup);
    }

    @Override
    public StoreImage image(OutputStream index) {
        throw new UnsupportedOperationException("a model of content has no files");
    }

    @Override
    public void close() {
        real.close();
    }
}
