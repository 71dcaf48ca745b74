package io.afterbay.store.testkit;

import static io.afterbay.store.testkit.StoreFixture.bytes;
import static io.afterbay.store.testkit.StoreFixture.get;
import static io.afterbay.store.testkit.StoreFixture.key;
import static io.afterbay.store.testkit.StoreFixture.noise;
import static io.afterbay.store.testkit.StoreFixture.put;
import static io.afterbay.store.testkit.StoreFixture.utf8;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.ValueStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The part of {@link StateStoreContract} about {@link ValueStore}. */
interface ValueStoreContract extends StoreFixture {
    @Test
    default void missingValueLeavesTheSliceUnchanged() {
        ValueStore values = store().values("v");
        Slice slice = new Slice();
        slice.set(bytes("before"), 0, 6);
        assertThat(values.get(key(0, "none"), slice)).isFalse();
        assertThat(slice.toByteArray()).isEqualTo(bytes("before"));
    }

    @Test
    default void valueIsReadBackAndReplaced() {
        ValueStore values = store().values("v");
        StateKey key = key(7, "k", "n");
        for (String value : List.of("first", "longer than the first", "", "short")) {
            put(values, key, value);
            assertThat(get(values, key)).isEqualTo(utf8(value));
        }
    }

    @Test
    default void emptyValueIsAValue() {
        ValueStore values = store().values("v");
        put(values, key(0, "k"), "");
        assertThat(get(values, key(0, "k"))).isEqualTo(utf8(""));
        assertThat(Contents.values(values.scan(0, 0))).hasSize(1);
        assertThat(values.remove(key(0, "k"))).isTrue();
    }

    @Test
    default void valueIsCopiedFromTheGivenRange() {
        ValueStore values = store().values("v");
        byte[] array = bytes("--value--");
        values.put(key(0, "k"), array, 2, 5);
        array[3] = '!';
        assertThat(get(values, key(0, "k"))).isEqualTo(utf8("value"));
    }

    @Test
    default void keyMayBeReusedByItsOwner() {
        ValueStore values = store().values("v");
        StateKey key = new StateKey();
        for (int i = 0; i < 100; i++) {
            put(values, key.setKey(i % 3, bytes("key-" + i)).setNamespace(bytes("n" + i)), "" + i);
        }
        for (int i = 0; i < 100; i++) {
            key.setKey(i % 3, bytes("key-" + i)).setNamespace(bytes("n" + i));
            assertThat(get(values, key)).isEqualTo(utf8("" + i));
        }
    }

    @Test
    default void removeTellsWhetherThereWasAValue() {
        ValueStore values = store().values("v");
        put(values, key(0, "k"), "value");
        assertThat(values.remove(key(0, "other"))).isFalse();
        assertThat(values.remove(key(0, "k"))).isTrue();
        assertThat(values.remove(key(0, "k"))).isFalse();
        assertThat(get(values, key(0, "k"))).isNull();
    }

    @Test
    default void removedValueCanBeSetAgain() {
        ValueStore values = store().values("v");
        for (int round = 0; round < 50; round++) {
            put(values, key(0, "k"), "round " + round);
            assertThat(get(values, key(0, "k"))).isEqualTo(utf8("round " + round));
            assertThat(values.remove(key(0, "k"))).isTrue();
        }
    }

    @Test
    default void boundaryBetweenKeyAndNamespaceCounts() {
        ValueStore values = store().values("v");
        List<StateKey> keys =
                List.of(
                        key(0, "abc", ""),
                        key(0, "ab", "c"),
                        key(0, "a", "bc"),
                        key(0, "", "abc"),
                        key(0, "", ""));
        for (int i = 0; i < keys.size(); i++) {
            put(values, keys.get(i), "value " + i);
        }
        for (int i = 0; i < keys.size(); i++) {
            assertThat(get(values, keys.get(i))).isEqualTo(utf8("value " + i));
        }
        assertThat(Contents.values(values.scan(0, 0))).hasSize(keys.size());
        assertThat(values.remove(keys.get(1))).isTrue();
        assertThat(get(values, keys.get(2))).isEqualTo(utf8("value 2"));
    }

    @Test
    default void keyGroupsAreApart() {
        ValueStore values = store().values("v");
        int[] groups = {0, 1, 127, 128, 255, 256, 32766, 32767};
        for (int group : groups) {
            put(values, key(group, "k", "n"), "group " + group);
        }
        for (int group : groups) {
            assertThat(get(values, key(group, "k", "n"))).isEqualTo(utf8("group " + group));
        }
        assertThat(get(values, key(2, "k", "n"))).isNull();
        assertThat(Contents.values(values.scan(127, 32766))).hasSize(5);
    }

    @Test
    default void statesAreApartAndFoundByName() {
        put(store().values("a"), key(0, "k"), "in a");
        put(store().values("b"), key(0, "k"), "in b");
        assertThat(get(store().values("a"), key(0, "k"))).isEqualTo(utf8("in a"));
        assertThat(store().values("b").remove(key(0, "k"))).isTrue();
        assertThat(get(store().values("a"), key(0, "k"))).isEqualTo(utf8("in a"));
    }

    @ParameterizedTest
    @ValueSource(ints = {1_000, 100_000, 1_000_000})
    default void longKeysThatDifferAtTheirEnds(int length) {
        ValueStore values = store().values("v");
        List<StateKey> keys = new ArrayList<>();
        for (int at : new int[] {0, length / 2, length - 1}) {
            byte[] changed = noise(1, length);
            changed[at]++;
            keys.add(key(5, changed, bytes("n")));
            keys.add(key(5, bytes("k"), changed));
        }
        for (int i = 0; i < keys.size(); i++) {
            put(values, keys.get(i), noise(i, 10));
        }
        for (int i = 0; i < keys.size(); i++) {
            assertThat(get(values, keys.get(i))).isEqualTo(new Bytes(noise(i, 10)));
        }
        assertThat(Contents.values(values.scan(5, 5))).hasSize(keys.size());
        assertThat(values.remove(keys.get(0))).isTrue();
        assertThat(get(values, keys.get(0))).isNull();
        assertThat(get(values, keys.get(2))).isEqualTo(new Bytes(noise(2, 10)));
    }

    @ParameterizedTest
    @ValueSource(ints = {500, 33_000, 1 << 20, 20 << 20})
    default void valueOfAnySize(int length) {
        ValueStore values = store().values("v");
        put(values, key(0, "small"), "neighbour");
        for (int size : new int[] {length, length - 1, 3, length + 1, 0, length / 2}) {
            put(values, key(0, "k"), noise(size, size));
            assertThat(get(values, key(0, "k"))).isEqualTo(new Bytes(noise(size, size)));
        }
        assertThat(Contents.values(values.scan(0, 0)))
                .containsEntry(Place.of(key(0, "k")), new Bytes(noise(length / 2, length / 2)));
        assertThat(values.remove(key(0, "k"))).isTrue();
        assertThat(get(values, key(0, "k"))).isNull();
        assertThat(get(values, key(0, "small"))).isEqualTo(utf8("neighbour"));
    }

    @Test
    default void oneSliceReadsValuesOfAllSizes() {
        ValueStore values = store().values("v");
        int[] sizes = {10, 100_000, 0, 1, 4096};
        for (int size : sizes) {
            put(values, key(0, "k" + size), noise(size, size));
        }
        Slice slice = new Slice();
        for (int size : sizes) {
            assertThat(values.get(key(0, "k" + size), slice)).isTrue();
            assertThat(slice.toByteArray()).isEqualTo(noise(size, size));
        }
    }

    @Test
    default void valuesOfFourTimesTheBudget() {
        ValueStore values = store().values("v");
        int size = 500;
        int count = (int) (4 * budget().totalBytes() / size);
        for (int i = 0; i < count; i++) {
            put(values, key(i % 128, "key-" + i), noise(i, size));
        }
        new Random(1)
                .ints(count / 4, 0, count)
                .forEach(
                        i ->
                                assertThat(get(values, key(i % 128, "key-" + i)))
                                        .isEqualTo(new Bytes(noise(i, size))));
        try (EntryCursor cursor = values.scan(0, 127)) {
            int seen = 0;
            while (cursor.next()) {
                seen++;
            }
            assertThat(seen).isEqualTo(count);
        }
    }

    @Test
    default void scanShowsTheRangeInOrderOfKeyGroup() {
        ValueStore values = store().values("v");
        Map<Place, Bytes> expected = new TreeMap<>();
        for (int i = 0; i < 2000; i++) {
            StateKey key = key(i % 50, "key-" + i, "n" + i % 7);
            put(values, key, "value " + i);
            if (key.keyGroup() >= 10 && key.keyGroup() <= 40) {
                expected.put(Place.of(key), utf8("value " + i));
            }
        }
        assertThat(Contents.values(values.scan(10, 40))).isEqualTo(expected);
        assertThat(Contents.values(values.scan(50, 32767))).isEmpty();
    }

    @Test
    default void scanOfAnEmptyStateIsEmpty() {
        assertThat(Contents.values(store().values("v").scan(0, 32767))).isEmpty();
    }

    @Test
    default void scanSeesWhatStaysExactlyOnceWhileTheStateChanges() {
        ValueStore values = store().values("v");
        for (int i = 0; i < 3000; i++) {
            put(values, key(i % 4, "stays-" + i), "old " + i);
            put(values, key(i % 4, "goes-" + i), "old");
        }
        Map<Place, Bytes> seen = new TreeMap<>();
        Random random = new Random(3);
        try (EntryCursor cursor = values.scan(0, 3)) {
            for (int step = 0; cursor.next(); step++) {
                Bytes value = Contents.bytes(cursor.value());
                Place place = Place.of(cursor.key());
                assertThat(seen.put(place, value)).as("%s came twice", place).isNull();
                int other = random.nextInt(3000);
                put(values, key(other % 4, "stays-" + other), "new " + other);
                values.remove(key(random.nextInt(4), "goes-" + random.nextInt(3000)));
                if (step < 3000) {
                    put(values, key(step % 4, "comes-" + step), noise(step, step % 600));
                }
            }
        }
        for (int i = 0; i < 3000; i++) {
            assertThat(seen.get(Place.of(key(i % 4, "stays-" + i))))
                    .isIn(utf8("old " + i), utf8("new " + i));
        }
    }

    @Test
    default void scanAllowsRemovalOfTheEntryItStandsOn() {
        ValueStore values = store().values("v");
        for (int i = 0; i < 5000; i++) {
            put(values, key(i % 3, "key-" + i), noise(i, i % 100));
        }
        int removed = 0;
        try (EntryCursor cursor = values.scan(0, 2)) {
            while (cursor.next()) {
                assertThat(values.remove(Place.of(cursor.key()).toKey())).isTrue();
                removed++;
            }
        }
        assertThat(removed).isEqualTo(5000);
        assertThat(Contents.values(values.scan(0, 2))).isEmpty();
    }

    @Test
    default void scansRunSideBySideAndMayEndEarly() {
        ValueStore values = store().values("v");
        for (int i = 0; i < 1000; i++) {
            put(values, key(i % 5, "key-" + i), "value " + i);
        }
        try (EntryCursor abandoned = values.scan(0, 4)) {
            assertThat(abandoned.next()).isTrue();
            assertThat(Contents.values(values.scan(0, 4))).hasSize(1000);
            assertThat(abandoned.next()).isTrue();
        }
        assertThat(Contents.values(values.scan(0, 4))).hasSize(1000);
    }
}
