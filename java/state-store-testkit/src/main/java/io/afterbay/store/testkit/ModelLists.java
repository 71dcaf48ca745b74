package io.afterbay.store.testkit;

import static io.afterbay.store.testkit.StoreFixture.noise;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.ListReader;
import io.afterbay.store.ListStore;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.StateKey;
import java.util.ArrayList;
import java.util.List;

/** The steps of a random run on one state of lists. */
final class ModelLists {
    private static final int HELD_READERS_MAX = 20;

    private record Held(ListReader reader, List<Bytes> expected) {}

    private final Twin twin;
    private final ListStore actual;
    private final ListStore model;
    private final List<Held> held = new ArrayList<>();

    ModelLists(Twin twin, ReadAlignment alignment) {
        this.twin = twin;
        this.actual = twin.store().lists(name(alignment), alignment);
        this.model = twin.model().lists(name(alignment), alignment);
    }

    static String name(ReadAlignment alignment) {
        return "lists-" + alignment;
    }

    void append(Step step) {
        append(twin.keys().key(step.place()), noise(step.extra(), step.size()));
    }

    private void append(StateKey key, byte[] element) {
        StoreFixture.append(actual, key, element);
        StoreFixture.append(model, key, element);
    }

    /** Many elements for one list. */
    void bulkAppend(Step step) {
        StateKey key = twin.keys().key(step.place());
        for (int i = 0; i < twin.bulkCount(step.size()); i++) {
            append(key, noise(step.extra() + i, step.size()));
        }
    }

    /** One element each for many lists. */
    void spreadAppend(Step step) {
        for (int i = 0; i < twin.bulkCount(step.size()); i++) {
            append(twin.keys().key(step.place() + i), noise(step.extra() + i, step.size()));
        }
    }

    void read(Step step) {
        StateKey key = twin.keys().key(step.place());
        assertThat(StoreFixture.get(actual, key))
                .as("list of %s", Place.of(key))
                .isEqualTo(StoreFixture.get(model, key));
    }

    /** Some of them twice: there are fewer addresses than places. */
    void readAhead(Step step) {
        List<StateKey> keys = new ArrayList<>();
        for (int i = 0; i < 1 + Math.floorMod(step.extra(), 60); i++) {
            keys.add(twin.keys().key(step.place() + i));
        }
        assertThat(actual.readAhead(keys)).isBetween(0, keys.size());
        read(step);
    }

    void hold(Step step) {
        StateKey key = twin.keys().key(step.place());
        ListReader reader = actual.get(key);
        List<Bytes> expected = StoreFixture.get(model, key);
        assertThat(reader == null)
                .as("%s has no list", Place.of(key))
                .isEqualTo(expected.isEmpty());
        if (reader != null && held.size() < HELD_READERS_MAX) {
            held.add(new Held(reader, expected));
        }
    }

    void checkReaders() {
        for (Held each : held) {
            assertThat(Contents.elements(each.reader))
                    .as("a list that was read earlier")
                    .isEqualTo(each.expected);
        }
    }

    void releaseReaders() {
        checkReaders();
        held.clear();
    }

    void clear(Step step) {
        clear(step.place());
    }

    private void clear(int place) {
        StateKey key = twin.keys().key(place);
        assertThat(actual.clear(key)).as("clear of %s", Place.of(key)).isEqualTo(model.clear(key));
    }

    void bulkClear(Step step) {
        for (int i = 0; i < twin.bulkCount(100); i++) {
            clear(step.place() + i);
        }
    }

    void merge(Step step) {
        StateKey target = twin.keys().key(step.place(), step.extra());
        StateKey source = twin.keys().key(step.place(), step.extra() / 4);
        actual.merge(target, source);
        model.merge(target, source);
        assertThat(StoreFixture.get(actual, target))
                .as("list of %s after a merge", Place.of(target))
                .isEqualTo(StoreFixture.get(model, target));
    }

    void scan(int firstKeyGroup, int lastKeyGroup) {
        assertThat(Contents.lists(actual.scan(firstKeyGroup, lastKeyGroup)))
                .as("scan of lists, key groups %d..%d", firstKeyGroup, lastKeyGroup)
                .isEqualTo(Contents.lists(model.scan(firstKeyGroup, lastKeyGroup)));
    }
}
