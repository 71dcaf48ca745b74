package io.afterbay.store.testkit;

import static io.afterbay.store.testkit.StoreFixture.noise;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.StateKey;
import io.afterbay.store.ValueStore;

/** The steps of a random run on values. */
final class ModelValues {
    static final String NAME = "values";

    private final Twin twin;
    private final ValueStore actual;
    private final ValueStore model;

    ModelValues(Twin twin) {
        this.twin = twin;
        this.actual = twin.store().values(NAME);
        this.model = twin.model().values(NAME);
    }

    void put(Step step) {
        put(step.place(), step.size(), step.extra());
    }

    private void put(int place, int size, int seed) {
        StateKey key = twin.keys().key(place);
        byte[] value = noise(seed, size);
        StoreFixture.put(actual, key, value);
        StoreFixture.put(model, key, value);
    }

    void get(Step step) {
        StateKey key = twin.keys().key(step.place());
        assertThat(StoreFixture.get(actual, key))
                .as("value of %s", Place.of(key))
                .isEqualTo(StoreFixture.get(model, key));
    }

    void remove(Step step) {
        remove(step.place());
    }

    private void remove(int place) {
        StateKey key = twin.keys().key(place);
        assertThat(actual.remove(key))
                .as("removal of the value of %s", Place.of(key))
                .isEqualTo(model.remove(key));
    }

    void bulkPut(Step step) {
        int count = twin.bulkCount(step.size());
        for (int i = 0; i < count; i++) {
            put(step.place() + i, step.size() + i % 3, step.extra() + i);
        }
    }

    void bulkRemove(Step step) {
        for (int i = 0; i < twin.bulkCount(100); i++) {
            remove(step.place() + i);
        }
    }

    void scan(int firstKeyGroup, int lastKeyGroup) {
        assertThat(Contents.values(actual.scan(firstKeyGroup, lastKeyGroup)))
                .as("scan of values, key groups %d..%d", firstKeyGroup, lastKeyGroup)
                .isEqualTo(Contents.values(model.scan(firstKeyGroup, lastKeyGroup)));
    }
}
