package io.afterbay.store.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.ReadAlignment;
import io.afterbay.store.StateStoreException;
import io.afterbay.store.StoreSnapshot;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** A snapshot that a random run keeps, and what it must show. */
final class ModelSnapshot implements AutoCloseable {
    static final Map<String, Shape> SHAPES =
            Map.of(
                    ModelValues.NAME,
                    Shape.VALUES,
                    ModelLists.name(ReadAlignment.ALIGNED),
                    Shape.LISTS,
                    ModelLists.name(ReadAlignment.UNALIGNED),
                    Shape.LISTS,
                    ModelMaps.NAME,
                    Shape.MAPS,
                    ModelTriggers.NAME,
                    Shape.TRIGGERS);

    private final StoreSnapshot actual;
    private final StoreSnapshot model;
    private final Keyspace keys;
    private CompletableFuture<Void> reading = CompletableFuture.completedFuture(null);

    ModelSnapshot(Twin twin) {
        this.actual = twin.store().snapshot();
        this.model = twin.model().snapshot();
        this.keys = twin.keys();
    }

    /** Compares everything in this thread. */
    void check() {
        reading.join();
        compare();
    }

    /** Compares everything in another thread, while this one works on. */
    void checkAside() {
        reading.join();
        reading = CompletableFuture.runAsync(this::compare);
    }

    private void compare() {
        for (int group = keys.firstKeyGroup(); group <= keys.lastKeyGroup(); group++) {
            for (Map.Entry<String, Shape> state : SHAPES.entrySet()) {
                compare(state.getKey(), state.getValue(), group);
            }
        }
    }

    private void compare(String name, Shape shape, int group) {
        assertThat(read(actual, name, shape, group, false))
                .as("entries of %s in key group %d of a snapshot", name, group)
                .isEqualTo(read(model, name, shape, group, false));
        assertThat(read(actual, name, shape, group, true))
                .as("fragments of %s in key group %d of a snapshot", name, group)
                .isEqualTo(read(model, name, shape, group, true));
    }

    private static Object read(
            StoreSnapshot snapshot, String name, Shape shape, int group, boolean inFragments) {
        var cursor = inFragments ? snapshot.fragments(name, group) : snapshot.entries(name, group);
        return switch (shape) {
            case VALUES -> Contents.values(cursor);
            case LISTS -> inFragments ? Contents.fragments(cursor) : Contents.lists(cursor);
            case MAPS -> Contents.maps(cursor);
            case TRIGGERS -> Contents.triggers(cursor);
        };
    }

    /**
     * Writes the content of some key groups into other stores: what was stored and what should have
     * been.
     */
    void restore(int firstKeyGroup, int lastKeyGroup, Twin target) {
        reading.join();
        int first = Math.max(firstKeyGroup, keys.firstKeyGroup());
        int last = Math.min(lastKeyGroup, keys.lastKeyGroup());
        Restoring.copy(actual, first, last, target.store(), SHAPES);
        Restoring.copy(model, first, last, target.model(), SHAPES);
    }

    /** As {@link #close}, but a failure of the store is none of the run. */
    void abandon() {
        try {
            close();
        } catch (CompletionException e) {
            if (!(e.getCause() instanceof StateStoreException)) {
                throw e;
            }
        }
    }

    @Override
    public void close() {
        try {
            reading.join();
        } finally {
            actual.close();
            model.close();
        }
    }
}
