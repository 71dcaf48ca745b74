package io.afterbay.store.testkit;

import io.afterbay.store.ListStore;
import io.afterbay.store.MapStore;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.StateKey;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStoreException;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreSnapshot;
import io.afterbay.store.StoreStats;
import io.afterbay.store.TriggerSchedule;
import io.afterbay.store.ValueStore;
import io.afterbay.store.redo.RedoSink;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * A {@link StateStore} of plain maps on the heap: the model that other stores are compared with,
 * and a stand-in for tests of what uses a store. Uses neither budget nor files.
 *
 * <p>It is as strict as the interface allows, so that callers who rely on more are found: a reader
 * used after {@link #releaseReaders} throws, as does a key group out of range and a handle of a
 * dropped state; the fragments of a snapshot are short and those of different lists are
 * interleaved.
 */
public final class ReferenceStore implements StateStore {
    private final StoreOptions options;
    private final Map<String, Object> states = new HashMap<>();
    private long released;
    private volatile boolean open = true;

    public ReferenceStore(StoreOptions options) {
        this.options = options;
    }

    @Override
    public ValueStore values(String name) {
        return state(name, ReferenceValues.class, ReferenceValues::new);
    }

    @Override
    public ListStore lists(String name, ReadAlignment alignment) {
        return state(name, ReferenceLists.class, ReferenceLists::new);
    }

    @Override
    public MapStore maps(String name) {
        return state(name, ReferenceMaps.class, ReferenceMaps::new);
    }

    @Override
    public TriggerSchedule triggers(String name) {
        return state(name, ReferenceTriggers.class, ReferenceTriggers::new);
    }

    private <S> S state(String name, Class<S> shape, Function<ReferenceStore, S> create) {
        checkOpen();
        Object state = states.computeIfAbsent(name, absent -> create.apply(this));
        if (!shape.isInstance(state)) {
            throw new StateStoreException(
                    "state '%s' of store '%s' is a %s; it cannot be opened as a %s: use another name"
                            .formatted(name, options.name(), shapeOf(state), shapeName(shape)));
        }
        return shape.cast(state);
    }

    private static String shapeOf(Object state) {
        return shapeName(state.getClass());
    }

    /** "values" for ReferenceValues, and so on. */
    private static String shapeName(Class<?> shape) {
        return shape.getSimpleName().substring("Reference".length()).toLowerCase(Locale.ROOT);
    }

    @Override
    public void drop(String name) {
        checkOpen();
        states.remove(name);
    }

    @Override
    public void releaseReaders() {
        checkOpen();
        released++;
    }

    @Override
    public StoreSnapshot snapshot() {
        checkOpen();
        Map<String, FrozenState> frozen = new HashMap<>();
        states.forEach((name, state) -> frozen.put(name, freeze(state)));
        return new ReferenceSnapshot(frozen, this::isOpen);
    }

    private static FrozenState freeze(Object state) {
        return state instanceof ReferenceTriggers triggers
                ? triggers.freeze()
                : ((ReferenceState<?>) state).freeze();
    }

    /** A model of content needs no log. */
    @Override
    public void startRedo(RedoSink sink) {
        throw new UnsupportedOperationException("the reference store writes no redo log");
    }

    @Override
    public void flushRedo() {
        throw new UnsupportedOperationException("the reference store writes no redo log");
    }

    @Override
    public void expectSnapshot(boolean expected) {}

    @Override
    public boolean isSnapshotPrepared() {
        return true;
    }

    @Override
    public void beginReplay(long bytes) {}

    @Override
    public void continueReplay() {}

    @Override
    public void endReplay() {}

    @Override
    public void resumeRedo(RedoSink sink) {
        startRedo(sink);
    }

    @Override
    public void endRedo() {}

    /** All zero: there are no pages and no files. */
    @Override
    public boolean hasFailed() {
        return false;
    }

    @Override
    public StoreStats stats() {
        checkOpen();
        return new StoreStats(
                0, options.budget().shareBytes(), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    }

    @Override
    public void close() {
        open = false;
        states.clear();
    }

    boolean isOpen() {
        return open;
    }

    BooleanSupplier untilReadersReleased() {
        long now = released;
        return () -> open && released == now;
    }

    void checkOpen() {
        if (!open) {
            throw new IllegalStateException("store '" + options.name() + "' is closed");
        }
    }

    void check(Object state, StateKey key) {
        checkOpen();
        if (key.keyGroup() < options.firstKeyGroup() || key.keyGroup() > options.lastKeyGroup()) {
            throw new IllegalArgumentException(
                    "key group %d is not in %d..%d, the key groups of store '%s'"
                            .formatted(
                                    key.keyGroup(),
                                    options.firstKeyGroup(),
                                    options.lastKeyGroup(),
                                    options.name()));
        }
        if (!states.containsValue(state)) {
            throw new IllegalStateException("the state was dropped; open it again by its name");
        }
    }
}
