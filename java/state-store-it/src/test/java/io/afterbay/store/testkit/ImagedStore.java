package io.afterbay.store.testkit;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreImage;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreSnapshot;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;

/**
 * A store whose snapshots are those of another one, which was opened from an image of the first. So
 * whatever a test says of snapshots holds for images.
 */
final class ImagedStore extends ForwardingStore {
    private static final long COPY_BYTES = 4 << 20;

    private final StoreOptions options;
    private int copies;

    ImagedStore(StoreOptions options) {
        super(StateStores.open(options));
        this.options = options;
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
        StoreOptions copyOptions = Images.beside(options, "copy-" + copies++, COPY_BYTES);
        try {
            StateStore copy = Images.copy(store, copyOptions);
            return new Copy(copy, copy.snapshot());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
