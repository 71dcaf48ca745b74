package io.afterbay.store.testkit;

import static io.afterbay.store.testkit.StoreFixture.bytes;
import static io.afterbay.store.testkit.StoreFixture.get;
import static io.afterbay.store.testkit.StoreFixture.key;
import static io.afterbay.store.testkit.StoreFixture.noise;
import static io.afterbay.store.testkit.StoreFixture.put;
import static io.afterbay.store.testkit.StoreFixture.remove;
import static io.afterbay.store.testkit.StoreFixture.utf8;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.MapStore;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The part of {@link StateStoreContract} about {@link MapStore}. */
interface MapStoreContract extends StoreFixture {
    @Test
    default void absentMapIsEmpty() {
        MapStore maps = store().maps("m");
        StateKey key = key(0, "k");
        assertThat(maps.isEmpty(key)).isTrue();
        assertThat(get(maps, key, "u")).isNull();
        assertThat(maps.contains(key, bytes("u"), 1)).isFalse();
        assertThat(remove(maps, key, "u")).isFalse();
        assertThat(Contents.entries(maps.entries(key))).isEmpty();
        maps.clear(key);
        assertThat(maps.isEmpty(key)).isTrue();
    }

    @Test
    default void missingEntryLeavesTheSliceUnchanged() {
        MapStore maps = store().maps("m");
        Slice slice = new Slice();
        slice.set(bytes("before"), 0, 6);
        assertThat(maps.get(key(0, "k"), bytes("u"), 1, slice)).isFalse();
        assertThat(slice.toByteArray()).isEqualTo(bytes("before"));
    }

    @Test
    default void entryIsReadBackAndReplaced() {
        MapStore maps = store().maps("m");
        StateKey key = key(9, "k", "n");
        for (String value : List.of("first", "longer than the first", "", "short")) {
            put(maps, key, "u", value);
            assertThat(get(maps, key, "u")).isEqualTo(utf8(value));
            assertThat(Contents.entries(maps.entries(key)))
                    .isEqualTo(Map.of(utf8("u"), utf8(value)));
        }
    }

    @Test
    default void emptyUserKeyAndEmptyValueAreAnEntry() {
        MapStore maps = store().maps("m");
        StateKey key = key(0, "", "");
        put(maps, key, "", "");
        assertThat(maps.contains(key, new byte[0], 0)).isTrue();
        assertThat(get(maps, key, "")).isEqualTo(utf8(""));
        assertThat(maps.isEmpty(key)).isFalse();
        assertThat(remove(maps, key, "")).isTrue();
        assertThat(maps.isEmpty(key)).isTrue();
    }

    @Test
    default void userKeyAndValueAreTakenFromTheGivenRanges() {
        MapStore maps = store().maps("m");
        byte[] userKey = bytes("user--");
        byte[] value = bytes("--value--");
        maps.put(key(0, "k"), userKey, 4, value, 2, 5);
        userKey[0] = '!';
        value[3] = '!';
        assertThat(get(maps, key(0, "k"), "user")).isEqualTo(utf8("value"));
        assertThat(maps.contains(key(0, "k"), bytes("user and more"), 4)).isTrue();
        assertThat(maps.contains(key(0, "k"), bytes("user and more"), 5)).isFalse();
        assertThat(maps.remove(key(0, "k"), bytes("user and more"), 4)).isTrue();
    }

    @Test
    default void removeTellsWhetherTheEntryExisted() {
        MapStore maps = store().maps("m");
        put(maps, key(0, "k"), "a", "1");
        put(maps, key(0, "k"), "b", "2");
        assertThat(remove(maps, key(0, "k"), "c")).isFalse();
        assertThat(remove(maps, key(0, "k"), "a")).isTrue();
        assertThat(remove(maps, key(0, "k"), "a")).isFalse();
        assertThat(Contents.entries(maps.entries(key(0, "k"))))
                .isEqualTo(Map.of(utf8("b"), utf8("2")));
        assertThat(maps.isEmpty(key(0, "k"))).isFalse();
        assertThat(remove(maps, key(0, "k"), "b")).isTrue();
        assertThat(maps.isEmpty(key(0, "k"))).isTrue();
        put(maps, key(0, "k"), "a", "3");
        assertThat(Contents.entries(maps.entries(key(0, "k"))))
                .isEqualTo(Map.of(utf8("a"), utf8("3")));
    }

    @Test
    default void boundariesOfKeyNamespaceAndUserKeyCount() {
        MapStore maps = store().maps("m");
        put(maps, key(0, "abc", ""), "d", "1");
        put(maps, key(0, "ab", "c"), "d", "2");
        put(maps, key(0, "ab", ""), "cd", "3");
        put(maps, key(0, "a", "b"), "cd", "4");
        put(maps, key(0, "", ""), "abcd", "5");
        put(maps, key(0, "abcd", ""), "", "6");
        assertThat(get(maps, key(0, "abc", ""), "d")).isEqualTo(utf8("1"));
        assertThat(get(maps, key(0, "ab", "c"), "d")).isEqualTo(utf8("2"));
        assertThat(get(maps, key(0, "ab", ""), "cd")).isEqualTo(utf8("3"));
        assertThat(get(maps, key(0, "a", "b"), "cd")).isEqualTo(utf8("4"));
        assertThat(Contents.maps(maps.scan(0, 0))).hasSize(6);
        maps.clear(key(0, "ab", ""));
        assertThat(Contents.maps(maps.scan(0, 0))).hasSize(5);
        assertThat(get(maps, key(0, "ab", "c"), "d")).isEqualTo(utf8("2"));
    }

    @Test
    default void entriesAreThoseOfOneKeyAndNamespace() {
        MapStore maps = store().maps("m");
        for (int i = 0; i < 1000; i++) {
            put(maps, key(0, "k" + i % 10, "n" + i % 3), "u" + i, "v" + i);
        }
        Map<Bytes, Bytes> entries = Contents.entries(maps.entries(key(0, "k4", "n1")));
        assertThat(entries).hasSize(34).containsEntry(utf8("u4"), utf8("v4"));
        try (EntryCursor cursor = maps.entries(key(0, "k4", "n1"))) {
            assertThat(cursor.next()).isTrue();
            assertThat(Place.of(cursor.key())).isEqualTo(Place.of(key(0, "k4", "n1")));
        }
    }

    @Test
    default void clearRemovesAllEntriesOfTheKeyOnly() {
        MapStore maps = store().maps("m");
        for (int i = 0; i < 20_000; i++) {
            put(maps, key(0, "big"), "u" + i, "value " + i);
            put(maps, key(0, "other" + i % 100), "u" + i, "v");
        }
        maps.clear(key(0, "big"));
        assertThat(maps.isEmpty(key(0, "big"))).isTrue();
        assertThat(get(maps, key(0, "big"), "u7")).isNull();
        assertThat(maps.contains(key(0, "big"), bytes("u7"), 2)).isFalse();
        assertThat(remove(maps, key(0, "big"), "u7")).isFalse();
        assertThat(Contents.entries(maps.entries(key(0, "big")))).isEmpty();
        put(maps, key(0, "big"), "u8", "again");
        assertThat(Contents.entries(maps.entries(key(0, "big"))))
                .isEqualTo(Map.of(utf8("u8"), utf8("again")));
        assertThat(Contents.maps(maps.scan(0, 0))).hasSize(101);
        assertThat(Contents.entries(maps.entries(key(0, "other7")))).hasSize(200);
    }

    @Test
    default void everyClearedMapIsEmpty() {
        MapStore maps = store().maps("m");
        for (int i = 0; i < 300; i++) {
            put(maps, key(i % 3, "key-" + i % 100), "u" + i, "v");
        }
        for (int i = 0; i < 300; i++) {
            maps.clear(key(i % 3, "key-" + i % 100));
            assertThat(maps.isEmpty(key(i % 3, "key-" + i % 100))).isTrue();
        }
        assertThat(Contents.maps(maps.scan(0, 2))).isEmpty();
    }

    @Test
    default void iterationAllowsRemovalAndReplacementOfWhatItReturned() {
        MapStore maps = store().maps("m");
        StateKey key = key(0, "k");
        for (int i = 0; i < 4000; i++) {
            put(maps, key, "u" + i, "old");
        }
        int seen = 0;
        try (EntryCursor cursor = maps.entries(key)) {
            for (; cursor.next(); seen++) {
                byte[] userKey = cursor.userKey().toByteArray();
                if (seen % 2 == 0) {
                    assertThat(maps.remove(key, userKey, userKey.length)).isTrue();
                } else {
                    put(maps, key, userKey, bytes("a new and longer value"));
                }
            }
        }
        assertThat(seen).isEqualTo(4000);
        assertThat(Contents.entries(maps.entries(key)))
                .hasSize(2000)
                .containsValue(utf8("a new and longer value"))
                .doesNotContainValue(utf8("old"));
    }

    @Test
    default void iterationSeesWhatStaysExactlyOnceWhileOthersChange() {
        MapStore maps = store().maps("m");
        StateKey key = key(0, "k");
        for (int i = 0; i < 2000; i++) {
            put(maps, key, "stays-" + i, "old");
            put(maps, key, "goes-" + i, "old");
        }
        Map<Bytes, Bytes> seen = new TreeMap<>();
        Random random = new Random(5);
        try (EntryCursor cursor = maps.entries(key)) {
            for (int step = 0; cursor.next(); step++) {
                Bytes userKey = Contents.bytes(cursor.userKey());
                assertThat(seen.put(userKey, Contents.bytes(cursor.value()))).isNull();
                put(maps, key, "stays-" + random.nextInt(2000), "new and of another length");
                remove(maps, key, "goes-" + random.nextInt(2000));
                if (step < 2000) {
                    put(maps, key, bytes("comes-" + step), noise(step, step % 300));
                    put(maps, key(0, "k" + step), "u", "v");
                }
            }
        }
        for (int i = 0; i < 2000; i++) {
            assertThat(seen.get(utf8("stays-" + i)))
                    .as("stays-" + i)
                    .isIn(utf8("old"), utf8("new and of another length"));
        }
    }

    @Test
    default void iterationEndsAfterAClear() {
        MapStore maps = store().maps("m");
        StateKey key = key(0, "k");
        for (int i = 0; i < 100; i++) {
            put(maps, key, "u" + i, "v");
        }
        try (EntryCursor cursor = maps.entries(key)) {
            assertThat(cursor.next()).isTrue();
            maps.clear(key);
            int rest = 0;
            while (cursor.next()) {
                rest++;
            }
            assertThat(rest).isLessThan(100);
        }
        assertThat(maps.isEmpty(key)).isTrue();
    }

    /** Iterating a small map among many must not cost a scan of the others. */
    @Test
    default void entriesReadOnlyTheirOwnKey() {
        MapStore maps = store().maps("m");
        int keys = (int) (4 * budget().totalBytes() / 3 / 150);
        for (int i = 0; i < keys; i++) {
            for (int entry = 0; entry < 3; entry++) {
                put(maps, key(0, "key-" + i), bytes("u" + entry), noise(i * 3L + entry, 100));
            }
        }
        long faults = store().stats().pageFaults();
        for (int i = 0; i < keys; i += keys / 10) {
            assertThat(Contents.entries(maps.entries(key(0, "key-" + i)))).hasSize(3);
        }
        assertThat(store().stats().pageFaults() - faults)
                .as("page faults of iterating 11 small maps")
                .isLessThan(200);
    }

    @Test
    default void longUserKeysAndValuesOfAllSizes() {
        MapStore maps = store().maps("m");
        StateKey key = key(0, noise(1, 100_000), bytes("n"));
        byte[] other = noise(2, 100_000);
        other[99_999]++;
        put(maps, key, noise(2, 100_000), noise(3, 1 << 20));
        put(maps, key, other, noise(4, 20 << 20));
        put(maps, key, bytes("u"), noise(5, 33_000));
        assertThat(get(maps, key, noise(2, 100_000))).isEqualTo(new Bytes(noise(3, 1 << 20)));
        assertThat(get(maps, key, other)).isEqualTo(new Bytes(noise(4, 20 << 20)));
        assertThat(get(maps, key, "u")).isEqualTo(new Bytes(noise(5, 33_000)));
        assertThat(Contents.entries(maps.entries(key))).hasSize(3);
        assertThat(maps.remove(key, other, other.length)).isTrue();
        assertThat(Contents.entries(maps.entries(key))).hasSize(2);
        maps.clear(key);
        assertThat(Contents.maps(maps.scan(0, 0))).isEmpty();
    }

    @Test
    default void mapScanShowsTheRange() {
        MapStore maps = store().maps("m");
        Map<Place, Map<Bytes, Bytes>> expected = new TreeMap<>();
        for (int i = 0; i < 5000; i++) {
            StateKey key = key(i % 13, "key-" + i % 700, "n" + i % 2);
            put(maps, key, "u" + i, "v" + i);
            if (key.keyGroup() >= 3 && key.keyGroup() <= 7) {
                expected.computeIfAbsent(Place.of(key), absent -> new TreeMap<>())
                        .put(utf8("u" + i), utf8("v" + i));
            }
        }
        assertThat(Contents.maps(maps.scan(3, 7))).isEqualTo(expected);
        assertThat(Contents.maps(maps.scan(13, 32767))).isEmpty();
    }

    @Test
    default void mapScanAllowsRemovalOfTheEntryItStandsOn() {
        MapStore maps = store().maps("m");
        for (int i = 0; i < 5000; i++) {
            put(maps, key(i % 3, "key-" + i % 40), "u" + i, "v" + i);
        }
        int removed = 0;
        try (EntryCursor cursor = maps.scan(0, 2)) {
            while (cursor.next()) {
                byte[] userKey = cursor.userKey().toByteArray();
                StateKey key = Place.of(cursor.key()).toKey();
                assertThat(maps.remove(key, userKey, userKey.length)).isTrue();
                removed++;
            }
        }
        assertThat(removed).isEqualTo(5000);
        assertThat(Contents.maps(maps.scan(0, 2))).isEmpty();
    }

    @Test
    default void mapsOfFourTimesTheBudget() {
        MapStore maps = store().maps("m");
        int count = (int) (4 * budget().totalBytes() / 250);
        for (int i = 0; i < count; i++) {
            put(maps, key(i % 16, "key-" + i % 500), bytes("u" + i), noise(i, 200));
        }
        for (int i = 0; i < count; i += 7) {
            assertThat(get(maps, key(i % 16, "key-" + i % 500), "u" + i))
                    .isEqualTo(new Bytes(noise(i, 200)));
        }
        for (int i = 0; i < count; i += 2) {
            assertThat(remove(maps, key(i % 16, "key-" + i % 500), "u" + i)).isTrue();
        }
        int left = Contents.maps(maps.scan(0, 15)).values().stream().mapToInt(Map::size).sum();
        assertThat(left).isEqualTo(count / 2);
    }
}
