package io.afterbay.store.testkit;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.StateStore;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.LocalFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;

/** Applies steps to a store and to its model side by side, and compares what they return. */
final class ModelRun implements AutoCloseable {
    private static final int OPEN_SNAPSHOTS_MAX = 4;

    private final Function<StoreOptions, StateStore> open;
    private final Path directory;
    private final LocalFiles files;
    private final MemoryBudget budget;
    private final Executor background;
    private final List<ModelSnapshot> snapshots = new ArrayList<>();
    private int opened;
    private Twin twin;
    private ModelValues values;
    private ModelLists aligned;
    private ModelLists unaligned;
    private ModelMaps maps;
    private ModelTriggers triggers;

    ModelRun(
            Function<StoreOptions, StateStore> open,
            Path directory,
            LocalFiles files,
            MemoryBudget budget,
            Executor background,
            Keyspace keys) {
        this.open = open;
        this.directory = directory;
        this.files = files;
        this.budget = budget;
        this.background = background;
        this.twin = openTwin(keys);
        this.values = new ModelValues(twin);
        this.aligned = new ModelLists(twin, ReadAlignment.ALIGNED);
        this.unaligned = new ModelLists(twin, ReadAlignment.UNALIGNED);
        this.maps = new ModelMaps(twin);
        this.triggers = new ModelTriggers(twin);
    }

    private Twin openTwin(Keyspace keys) {
        StoreOptions options =
                TestOptions.of(
                        directory.resolve("store-" + opened++),
                        files,
                        budget,
                        background,
                        keys.firstKeyGroup(),
                        keys.lastKeyGroup());
        int bulkBytes = (int) Math.min(budget.totalBytes() / 8, 1 << 20);
        return new Twin(open.apply(options), new ReferenceStore(options), keys, bulkBytes);
    }

    private void openStates() {
        values = new ModelValues(twin);
        aligned = new ModelLists(twin, ReadAlignment.ALIGNED);
        unaligned = new ModelLists(twin, ReadAlignment.UNALIGNED);
        maps = new ModelMaps(twin);
        triggers = new ModelTriggers(twin);
    }

    /** All steps, then a comparison of everything. */
    void apply(List<Step> steps) {
        for (int i = 0; i < steps.size(); i++) {
            Step step = steps.get(i);
            try {
                apply(step);
            } catch (AssertionError e) {
                throw new AssertionError(
                        "step %d of %d, %s: %s".formatted(i, steps.size(), step, e.getMessage()),
                        e);
            }
        }
        checkEverything();
    }

    void apply(Step step) {
        ModelLists lists = step.extra() % 2 == 0 ? aligned : unaligned;
        switch (step.kind()) {
            case PUT -> values.put(step);
            case GET -> values.get(step);
            case REMOVE -> values.remove(step);
            case BULK_PUT -> values.bulkPut(step);
            case BULK_REMOVE -> values.bulkRemove(step);
            case APPEND -> lists.append(step);
            case BULK_APPEND -> lists.bulkAppend(step);
            case SPREAD_APPEND -> lists.spreadAppend(step);
            case READ_LIST -> lists.read(step);
            case READ_AHEAD -> lists.readAhead(step);
            case HOLD_READER -> lists.hold(step);
            case CHECK_READERS -> lists.checkReaders();
            case RELEASE_READERS -> releaseReaders();
            case CLEAR_LIST -> lists.clear(step);
            case BULK_CLEAR_LISTS -> lists.bulkClear(step);
            case MERGE -> lists.merge(step);
            case MAP_PUT -> maps.put(step);
            case MAP_BULK_PUT -> maps.bulkPut(step);
            case MAP_GET -> maps.get(step);
            case MAP_REMOVE -> maps.remove(step);
            case MAP_CLEAR -> maps.clear(step);
            case MAP_ITERATE -> maps.iterate(step);
            case ADD_TRIGGER -> triggers.add(step);
            case BULK_TRIGGERS -> triggers.bulkAdd(step);
            case REMOVE_TRIGGER -> triggers.remove(step);
            case PEEK -> triggers.peek();
            case UPCOMING -> triggers.upcoming(step);
            case POLL -> triggers.poll();
            case POLL_MANY -> triggers.pollMany(step);
            case SNAPSHOT -> takeSnapshot();
            case CHECK_SNAPSHOT -> withSnapshot(step, ModelSnapshot::check);
            case READ_SNAPSHOT_ASIDE -> withSnapshot(step, ModelSnapshot::checkAside);
            case CLOSE_SNAPSHOT -> withSnapshot(step, this::closeSnapshot);
            case SCAN -> scan(step);
            case COMPARE_ALL -> checkEverything();
            case DROP -> drop(step);
            case REOPEN -> reopen(step);
        }
    }

    private void releaseReaders() {
        aligned.releaseReaders();
        unaligned.releaseReaders();
        twin.store().releaseReaders();
        twin.model().releaseReaders();
    }

    private void takeSnapshot() {
        if (snapshots.size() < OPEN_SNAPSHOTS_MAX) {
            snapshots.add(new ModelSnapshot(twin));
        }
    }

    private void withSnapshot(Step step, Consumer<ModelSnapshot> use) {
        if (!snapshots.isEmpty()) {
            use.accept(snapshots.get(Math.floorMod(step.extra(), snapshots.size())));
        }
    }

    private void closeSnapshot(ModelSnapshot snapshot) {
        snapshot.check();
        snapshots.remove(snapshot);
        snapshot.close();
    }

    private void scan(Step step) {
        int first = twin.keys().firstKeyGroup();
        int groups = twin.keys().lastKeyGroup() - first + 1;
        int from = Math.floorMod(step.place(), groups);
        int to = from + Math.floorMod(step.extra(), groups - from);
        compareStates(first + from, first + to);
    }

    private void compareStates(int firstKeyGroup, int lastKeyGroup) {
        values.scan(firstKeyGroup, lastKeyGroup);
        aligned.scan(firstKeyGroup, lastKeyGroup);
        unaligned.scan(firstKeyGroup, lastKeyGroup);
        maps.scan(firstKeyGroup, lastKeyGroup);
        triggers.scan(firstKeyGroup, lastKeyGroup);
    }

    void checkEverything() {
        compareStates(twin.keys().firstKeyGroup(), twin.keys().lastKeyGroup());
        aligned.checkReaders();
        unaligned.checkReaders();
        snapshots.forEach(ModelSnapshot::check);
    }

    private void drop(Step step) {
        releaseReaders();
        List<String> names = ModelSnapshot.SHAPES.keySet().stream().sorted().toList();
        String name = names.get(Math.floorMod(step.extra(), names.size()));
        twin.store().drop(name);
        twin.model().drop(name);
        openStates();
    }

    /**
     * Restores a snapshot into a new store with another range of key groups, and goes on with that.
     */
    private void reopen(Step step) {
        releaseReaders();
        int first = Math.floorMod(step.place(), 8);
        int last = first + Math.floorMod(step.extra(), 24);
        ModelSnapshot snapshot = new ModelSnapshot(twin);
        snapshots.add(snapshot);
        Twin next = openTwin(twin.keys().withKeyGroups(first, last));
        Twin before = twin;
        twin = next;
        try {
            snapshot.restore(first, last, next);
            closeSnapshots();
        } finally {
            before.close();
        }
        openStates();
    }

    private void closeSnapshots() {
        List<ModelSnapshot> open = List.copyOf(snapshots);
        snapshots.clear();
        open.forEach(ModelSnapshot::close);
    }

    /** The store that is in use now. */
    StateStore store() {
        return twin.store();
    }

    Keyspace keys() {
        return twin.keys();
    }

    /** Ends a run whose store may have failed; only what was read wrongly is an error. */
    void abandon() {
        snapshots.forEach(ModelSnapshot::abandon);
        snapshots.clear();
        twin.close();
    }

    @Override
    public void close() {
        try {
            closeSnapshots();
        } finally {
            twin.close();
        }
    }
}
