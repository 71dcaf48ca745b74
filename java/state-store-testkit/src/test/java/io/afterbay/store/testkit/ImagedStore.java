package io.afterbay.store.testkit;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListStore;
import io.afterbay.store.MapStore;
import io.afterbay.store.MemoryBudget;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreImage;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreSnapshot;
import io.afterbay.store.StoreStats;
import io.afterbay.store.TriggerSchedule;
import io.afterbay.store.ValueStore;
import io.afterbay.store.redo.RedoSink;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;

/**
 * A store whose snapshots are those of another one, which was opened from an image of the first. So
 * whatever a test says of snapshots holds for images.
 */
final class ImagedStore implements StateStore {
    private static final long COPY_BYTES = 4 << 20;

    private final StoreOptions options;
    private final StateStore store;
    private int copies;

    ImagedStore(StoreOptions options) {
        this.options = options;
        store = StateStores.open(options);
    }

    /** A snapshot of a store of its own. */
    private record Copy(StateStore store, StoreSnapshot snapshot) implements StoreSnapshot {
        @Override
        public EntryCursor entries(String state, int keyGroup) {
            return snapshot.entries(state, keyGroup);
        }

        @Override
        public EntryCursor fragments(String state, int keyGroup) {
            return snapshot.fragments(state, keyGroup);
        }

        @Override
        public StoreImage image(OutputStream index) throws IOException {
            return snapshot.image(index);
        }

        @Override
        public void close() {
            try {
                snapshot.close();
            } finally {
                store.close();
            }
        }
    }

    @Override
    public StoreSnapshot snapshot() {
        String name = options.name() + "-copy-" + copies++;
        StoreOptions copyOptions =
                new StoreOptions(
                        name,
                        options.directory().resolveSibling(name),
                        options.files(),
                        new MemoryBudget(COPY_BYTES),
                        options.background(),
                        options.owner(),
                        options.firstKeyGroup(),
                        options.lastKeyGroup(),
                        options.maxSpaceAmplification());
        try {
            StateStore copy = Images.copy(store, copyOptions);
            return new Copy(copy, copy.snapshot());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public ValueStore values(String name) {
        return store.values(name);
    }

    @Override
    public ListStore lists(String name, ReadAlignment alignment) {
        return store.lists(name, alignment);
    }

    @Override
    public MapStore maps(String name) {
        return store.maps(name);
    }

    @Override
    public TriggerSchedule triggers(String name) {
        return store.triggers(name);
    }

    @Override
    public void drop(String name) {
        store.drop(name);
    }

    @Override
    public void releaseReaders() {
        store.releaseReaders();
    }

    @Override
    public void startRedo(RedoSink sink) {
        store.startRedo(sink);
    }

    @Override
    public void flushRedo() {
        store.flushRedo();
    }

    @Override
    public void endRedo() {
        store.endRedo();
    }

    @Override
    public StoreStats stats() {
        return store.stats();
    }

    @Override
    public void close() {
        store.close();
    }
}
