package io.afterbay.store.testkit;

import io.afterbay.store.ListStore;
import io.afterbay.store.MapStore;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.StateStore;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreSnapshot;
import io.afterbay.store.TriggerSchedule;
import io.afterbay.store.ValueStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A store with a {@link Defect}: the negative control of tests of stores, and of what is built on
 * stores. A suite that passes on it proves nothing.
 */
public final class BrokenStore extends ForwardingStore {
    private final StoreOptions options;
    private final Defect defect;
    private final int every;
    private final Map<String, Shape> shapes = new HashMap<>();
    private @Nullable StoreSnapshot previous;
    private int calls;

    /**
     * @param store a sound one
     * @param options what it was opened with
     * @param every the defect shows at each so many-th chance
     */
    public BrokenStore(StateStore store, StoreOptions options, Defect defect, int every) {
        super(store);
        this.options = options;
        this.defect = defect;
        this.every = every;
    }

    /** Whether to do it wrong this time. */
    boolean strikes(Defect candidate) {
        return defect == candidate && ++calls % every == 0;
    }

    @Override
    public ValueStore values(String name) {
        ValueStore values = store.values(name);
        shapes.put(name, Shape.VALUES);
        return new BrokenValues(this, values);
    }

    @Override
    public ListStore lists(String name, ReadAlignment alignment) {
        ListStore lists = store.lists(name, alignment);
        shapes.put(name, Shape.LISTS);
        return new BrokenLists(this, lists);
    }

    @Override
    public MapStore maps(String name) {
        MapStore maps = store.maps(name);
        shapes.put(name, Shape.MAPS);
        return new BrokenMaps(this, maps);
    }

    @Override
    public TriggerSchedule triggers(String name) {
        TriggerSchedule triggers = store.triggers(name);
        shapes.put(name, Shape.TRIGGERS);
        return new BrokenTriggers(this, triggers);
    }

    @Override
    public void drop(String name) {
        if (!strikes(Defect.FORGETS_DROPS)) {
            store.drop(name);
            shapes.remove(name);
        }
    }

    @Override
    public StoreSnapshot snapshot() {
        StoreSnapshot now = store.snapshot();
        if (defect == Defect.SNAPSHOTS_FOLLOW_CHANGES) {
            return new LiveSnapshot(store, shapes, now);
        }
        if (defect == Defect.STALE_SNAPSHOTS) {
            StoreSnapshot stale = previous == null ? store.snapshot() : previous;
            previous = now;
            return stale;
        }
        return now;
    }

    @Override
    public void close() {
        if (previous != null) {
            previous.close();
        }
        store.close();
        if (defect == Defect.LEAVES_FILES) {
            leaveAFile();
        }
    }

    private void leaveAFile() {
        try {
            Files.createDirectories(options.directory());
            Files.writeString(options.directory().resolve("left-over"), "");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
