package io.afterbay.store.testkit;

import io.afterbay.store.ListStore;
import io.afterbay.store.MapStore;
import io.afterbay.store.MemoryBudget;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreSnapshot;
import io.afterbay.store.StoreStats;
import io.afterbay.store.TriggerSchedule;
import io.afterbay.store.ValueStore;
import io.afterbay.store.redo.RedoReplay;
import io.afterbay.store.redo.RedoSink;

/**
 * A store whose snapshots are those of another one, which knows of the first only by its redo log.
 * So whatever a test says of snapshots holds for the log.
 */
final class StandbyStore implements StateStore {
    private static final long STANDBY_BYTES = 16 << 20;

    private final StateStore store;
    private final StateStore standby;

    StandbyStore(StoreOptions options) {
        store = StateStores.open(options);
        standby = StateStores.open(standby(options));
        RedoReplay replay =
                new RedoReplay(standby, options.firstKeyGroup(), options.lastKeyGroup());
        store.startRedo(replay::apply);
    }

    private static StoreOptions standby(StoreOptions options) {
        String name = options.name() + "-standby";
        return new StoreOptions(
                name,
                options.directory().resolveSibling(name),
                options.files(),
                new MemoryBudget(STANDBY_BYTES),
                options.background(),
                options.owner(),
                options.firstKeyGroup(),
                options.lastKeyGroup(),
                options.maxSpaceAmplification());
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
    public StoreSnapshot snapshot() {
        store.flushRedo();
        return standby.snapshot();
    }

    @Override
    public void startRedo(RedoSink sink) {
        throw new UnsupportedOperationException("the standby has the log");
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
        try {
            store.close();
        } finally {
            standby.close();
        }
    }
}
