package io.afterbay.store.testkit;

import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreSnapshot;
import io.afterbay.store.redo.RedoReplay;

/**
 * A store whose snapshots are those of another one, which knows of the first only by its redo log.
 * So whatever a test says of snapshots holds for the log.
 */
final class StandbyStore extends ForwardingStore {
    private static final long STANDBY_BYTES = 16 << 20;

    /** More than the tier would have otherwise. */
    private static final long LOG_BYTES = 4 << 20;

    private final StateStore standby;
    private int snapshots;
    private int chunks;

    StandbyStore(StoreOptions options) {
        super(StateStores.open(options));
        standby = StateStores.open(Images.beside(options, "standby", STANDBY_BYTES));
        RedoReplay replay =
                new RedoReplay(standby, options.firstKeyGroup(), options.lastKeyGroup());
        standby.beginReplay(LOG_BYTES);
        store.startRedo(
                (bytes, length) -> {
                    replay.apply(bytes, length);
                    store.expectSnapshot(chunks++ % 4 == 3); // a sink may, at any chunk
                });
    }

    @Override
    public StoreSnapshot snapshot() {
        store.flushRedo();
        prepareForOthers();
        if (snapshots % 2 == 0) {
            standby.endReplay();
            standby.beginReplay(LOG_BYTES);
        }
        return standby.snapshot();
    }

    /** Snapshots of the store itself, expected or not, must make no difference to the log. */
    private void prepareForOthers() {
        switch (snapshots++ % 4) {
            case 0 -> store.expectSnapshot(true);
            case 1 -> store.snapshot().close();
            case 2 -> store.expectSnapshot(true);
            default -> store.expectSnapshot(false);
        }
    }

    @Override
    public void close() {
        try {
            store.close();
        } finally {
            standby.close();
        }
    }
}
