package io.afterbay.store.testkit;

import static io.afterbay.store.testkit.StoreFixture.bytes;
import static io.afterbay.store.testkit.StoreFixture.noise;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.MapStore;
import io.afterbay.store.StateKey;
import java.util.Map;
import java.util.TreeMap;

/** The steps of a random run on maps. */
final class ModelMaps {
    static final String NAME = "maps";

    private final Twin twin;
    private final MapStore actual;
    private final MapStore model;

    ModelMaps(Twin twin) {
        this.twin = twin;
        this.actual = twin.store().maps(NAME);
        this.model = twin.model().maps(NAME);
    }

    private static byte[] userKey(int number) {
        int id = Math.floorMod(number, 500);
        return bytes("u" + id + "-".repeat(id % 83 == 1 ? 2000 : id % 5));
    }

    void put(Step step) {
        put(step.place(), step.extra(), step.size());
    }

    private void put(int place, int userKey, int size) {
        StateKey key = twin.keys().key(place);
        byte[] value = noise(userKey * 31L + size, size);
        StoreFixture.put(actual, key, userKey(userKey), value);
        StoreFixture.put(model, key, userKey(userKey), value);
    }

    void bulkPut(Step step) {
        for (int i = 0; i < twin.bulkCount(step.size()); i++) {
            put(step.place() + i / 100, step.extra() + i, step.size());
        }
    }

    void get(Step step) {
        StateKey key = twin.keys().key(step.place());
        byte[] userKey = userKey(step.extra());
        Bytes expected = StoreFixture.get(model, key, userKey);
        assertThat(StoreFixture.get(actual, key, userKey))
                .as("entry %s of %s", new Bytes(userKey), Place.of(key))
                .isEqualTo(expected);
        assertThat(actual.contains(key, userKey, userKey.length)).isEqualTo(expected != null);
        assertThat(actual.isEmpty(key))
                .as("%s is empty", Place.of(key))
                .isEqualTo(model.isEmpty(key));
    }

    void remove(Step step) {
        StateKey key = twin.keys().key(step.place());
        byte[] userKey = userKey(step.extra());
        assertThat(actual.remove(key, userKey, userKey.length))
                .as("removal of %s of %s", new Bytes(userKey), Place.of(key))
                .isEqualTo(model.remove(key, userKey, userKey.length));
    }

    void clear(Step step) {
        StateKey key = twin.keys().key(step.place());
        actual.clear(key);
        model.clear(key);
        assertThat(actual.isEmpty(key)).as("%s is empty after clear", Place.of(key)).isTrue();
    }

    /** Walks the entries of a key; removes some, replaces others, adds new ones on the way. */
    void iterate(Step step) {
        StateKey key = twin.keys().key(step.place());
        Map<Bytes, Bytes> expected = Contents.entries(model.entries(key));
        Map<Bytes, Bytes> seen = new TreeMap<>();
        try (EntryCursor cursor = actual.entries(key)) {
            for (int i = step.extra(); cursor.next(); i++) {
                Bytes userKey = Contents.bytes(cursor.userKey());
                Bytes value = Contents.bytes(cursor.value());
                assertThat(seen.put(userKey, value)).as("%s came twice", userKey).isNull();
                change(key, userKey.array(), i);
            }
        }
        seen.keySet().removeIf(userKey -> !expected.containsKey(userKey));
        assertThat(seen).as("entries of %s", Place.of(key)).isEqualTo(expected);
        assertThat(Contents.entries(actual.entries(key)))
                .as("entries of %s after an iteration that changed them", Place.of(key))
                .isEqualTo(Contents.entries(model.entries(key)));
    }

    /** Changes only what the cursor has passed, or what no user key of this run is. */
    private void change(StateKey key, byte[] passed, int choice) {
        switch (Math.floorMod(choice, 4)) {
            case 0 -> {
                actual.remove(key, passed, passed.length);
                model.remove(key, passed, passed.length);
            }
            case 1 -> putBoth(key, passed, noise(choice, 30));
            case 2 -> addNew(key, bytes("added-" + choice), noise(choice, 5));
            default -> {}
        }
    }

    /** Not one that is there from an earlier walk: the cursor may still have to come to it. */
    private void addNew(StateKey key, byte[] userKey, byte[] value) {
        if (!model.contains(key, userKey, userKey.length)) {
            putBoth(key, userKey, value);
        }
    }

    private void putBoth(StateKey key, byte[] userKey, byte[] value) {
        StoreFixture.put(actual, key, userKey, value);
        StoreFixture.put(model, key, userKey, value);
    }

    void scan(int firstKeyGroup, int lastKeyGroup) {
        assertThat(Contents.maps(actual.scan(firstKeyGroup, lastKeyGroup)))
                .as("scan of maps, key groups %d..%d", firstKeyGroup, lastKeyGroup)
                .isEqualTo(Contents.maps(model.scan(firstKeyGroup, lastKeyGroup)));
    }
}
