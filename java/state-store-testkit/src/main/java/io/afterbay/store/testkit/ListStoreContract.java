package io.afterbay.store.testkit;

import static io.afterbay.store.testkit.StoreFixture.append;
import static io.afterbay.store.testkit.StoreFixture.bytes;
import static io.afterbay.store.testkit.StoreFixture.get;
import static io.afterbay.store.testkit.StoreFixture.key;
import static io.afterbay.store.testkit.StoreFixture.listOf;
import static io.afterbay.store.testkit.StoreFixture.noise;
import static io.afterbay.store.testkit.StoreFixture.utf8;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import io.afterbay.store.ListStore;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The part of {@link StateStoreContract} about {@link ListStore}. */
interface ListStoreContract extends StoreFixture {
    @ParameterizedTest
    @EnumSource
    default void absentListIsNull(ReadAlignment alignment) {
        ListStore lists = store().lists("l", alignment);
        assertThat(lists.get(key(0, "k"))).isNull();
        assertThat(lists.clear(key(0, "k"))).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    default void elementsComeInTheOrderOfTheirAppends(ReadAlignment alignment) {
        ListStore lists = store().lists("l", alignment);
        append(lists, key(3, "k", "n"), "a", "", "b", "a");
        assertThat(get(lists, key(3, "k", "n"))).isEqualTo(listOf("a", "", "b", "a"));
        append(lists, key(3, "k", "n"), "c");
        assertThat(get(lists, key(3, "k", "n"))).isEqualTo(listOf("a", "", "b", "a", "c"));
    }

    @ParameterizedTest
    @EnumSource
    default void listOfOneEmptyElementIsNotEmpty(ReadAlignment alignment) {
        ListStore lists = store().lists("l", alignment);
        append(lists, key(0, "k"), "");
        assertThat(get(lists, key(0, "k"))).isEqualTo(listOf(""));
        assertThat(Contents.lists(lists.scan(0, 0))).hasSize(1);
        assertThat(lists.clear(key(0, "k"))).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    default void elementIsCopiedFromTheGivenRange(ReadAlignment alignment) {
        ListStore lists = store().lists("l", alignment);
        byte[] array = bytes("--element--");
        lists.append(key(0, "k"), array, 2, 7);
        array[3] = '!';
        assertThat(get(lists, key(0, "k"))).isEqualTo(listOf("element"));
    }

    @ParameterizedTest
    @EnumSource
    default void readingRemovesNothingAndPassesAreIndependent(ReadAlignment alignment) {
        ListStore lists = store().lists("l", alignment);
        append(lists, key(0, "k"), "a", "b", "c");
        ListReader reader = Objects.requireNonNull(lists.get(key(0, "k")));
        ListReader.Elements first = reader.elements();
        Slice slice = new Slice();
        assertThat(first.next(slice)).isTrue();
        assertThat(Contents.elements(reader)).isEqualTo(listOf("a", "b", "c"));
        assertThat(first.next(slice)).isTrue();
        assertThat(slice.toByteArray()).isEqualTo(bytes("b"));
        assertThat(get(lists, key(0, "k"))).isEqualTo(listOf("a", "b", "c"));
    }

    @ParameterizedTest
    @EnumSource
    default void endedPassStaysEnded(ReadAlignment alignment) {
        ListStore lists = store().lists("l", alignment);
        append(lists, key(0, "k"), "a");
        ListReader.Elements pass = Objects.requireNonNull(lists.get(key(0, "k"))).elements();
        Slice slice = new Slice();
        assertThat(pass.next(slice)).isTrue();
        assertThat(pass.next(slice)).isFalse();
        append(lists, key(0, "k"), "b");
        assertThat(pass.next(slice)).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    default void readerKeepsItsContentThroughChanges(ReadAlignment alignment) {
        ListStore lists = store().lists("l", alignment);
        StateKey key = key(0, "k", "window");
        append(lists, key, "a", "b");
        ListReader two = Objects.requireNonNull(lists.get(key));
        append(lists, key, "c");
        ListReader three = Objects.requireNonNull(lists.get(key));
        lists.merge(key(0, "k", "other"), key);
        append(lists, key, "x");
        ListReader one = Objects.requireNonNull(lists.get(key));
        lists.clear(key(0, "k", "other"));
        lists.clear(key);
        append(lists, key, "y", "z");
        assertThat(Contents.elements(two)).isEqualTo(listOf("a", "b"));
        assertThat(Contents.elements(three)).isEqualTo(listOf("a", "b", "c"));
        assertThat(Contents.elements(one)).isEqualTo(listOf("x"));
        store().releaseReaders();
        assertThat(get(lists, key)).isEqualTo(listOf("y", "z"));
    }

    @ParameterizedTest
    @EnumSource
    default void readerKeepsItsContentWhileMemoryIsReused(ReadAlignment alignment) {
        ListStore lists = store().lists("l", alignment);
        List<Bytes> expected = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            append(lists, key(0, "read"), noise(i, 300));
            expected.add(new Bytes(noise(i, 300)));
        }
        ListReader reader = Objects.requireNonNull(lists.get(key(0, "read")));
        ListReader.Elements pass = reader.elements();
        assertThat(pass.next(new Slice())).isTrue();
        lists.clear(key(0, "read"));
        int count = (int) (2 * budget().totalBytes() / 1000);
        for (int i = 0; i < count; i++) {
            append(lists, key(i % 8, "other-" + i % 5000), noise(i, 1000));
        }
        assertThat(Contents.elements(reader)).isEqualTo(expected);
        Slice second = new Slice();
        assertThat(pass.next(second)).isTrue();
        assertThat(Contents.bytes(second)).isEqualTo(expected.get(1));
        store().releaseReaders();
    }

    @ParameterizedTest
    @EnumSource
    default void clearTellsWhetherThereWasAList(ReadAlignment alignment) {
        ListStore lists = store().lists("l", alignment);
        append(lists, key(0, "k"), "a");
        append(lists, key(0, "k", "n"), "stays");
        assertThat(lists.clear(key(0, "k"))).isTrue();
        assertThat(lists.clear(key(0, "k"))).isFalse();
        assertThat(lists.get(key(0, "k"))).isNull();
        append(lists, key(0, "k"), "b");
        assertThat(get(lists, key(0, "k"))).isEqualTo(listOf("b"));
        assertThat(get(lists, key(0, "k", "n"))).isEqualTo(listOf("stays"));
    }

    @ParameterizedTest
    @EnumSource
    default void everyClearedListIsGone(ReadAlignment alignment) {
        ListStore lists = store().lists("l", alignment);
        for (int i = 0; i < 100; i++) {
            append(lists, key(i % 3, "key-" + i), "a", "b");
        }
        for (int i = 0; i < 100; i++) {
            assertThat(lists.clear(key(i % 3, "key-" + i))).isTrue();
            assertThat(lists.get(key(i % 3, "key-" + i))).isNull();
        }
        assertThat(Contents.lists(lists.scan(0, 2))).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    default void mergeAppendsTheSourceAndClearsIt(ReadAlignment alignment) {
        ListStore lists = store().lists("l", alignment);
        append(lists, key(0, "k", "target"), "a", "b");
        append(lists, key(0, "k", "source"), "c", "d");
        lists.merge(key(0, "k", "target"), key(0, "k", "source"));
        assertThat(get(lists, key(0, "k", "target"))).isEqualTo(listOf("a", "b", "c", "d"));
        assertThat(lists.get(key(0, "k", "source"))).isNull();
        assertThat(lists.clear(key(0, "k", "source"))).isFalse();
        assertThat(Contents.lists(lists.scan(0, 0))).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource
    default void mergeOfAbsentLists(ReadAlignment alignment) {
        ListStore lists = store().lists("l", alignment);
        lists.merge(key(0, "k", "target"), key(0, "k", "source"));
        assertThat(lists.get(key(0, "k", "target"))).isNull();
        append(lists, key(0, "k", "source"), "a");
        lists.merge(key(0, "k", "target"), key(0, "k", "source"));
        assertThat(get(lists, key(0, "k", "target"))).isEqualTo(listOf("a"));
        lists.merge(key(0, "k", "target"), key(0, "k", "source"));
        assertThat(get(lists, key(0, "k", "target"))).isEqualTo(listOf("a"));
    }

    @ParameterizedTest
    @EnumSource
    default void mergeWithItselfChangesNothing(ReadAlignment alignment) {
        ListStore lists = store().lists("l", alignment);
        append(lists, key(0, "k"), "a", "b");
        lists.merge(key(0, "k"), key(0, "k"));
        assertThat(get(lists, key(0, "k"))).isEqualTo(listOf("a", "b"));
    }

    @ParameterizedTest
    @EnumSource
    default void mergedListsLiveOnApart(ReadAlignment alignment) {
        ListStore lists = store().lists("l", alignment);
        append(lists, key(0, "k", "a"), "a1");
        append(lists, key(0, "k", "b"), "b1");
        lists.merge(key(0, "k", "a"), key(0, "k", "b"));
        append(lists, key(0, "k", "b"), "b2");
        append(lists, key(0, "k", "a"), "a2");
        assertThat(get(lists, key(0, "k", "a"))).isEqualTo(listOf("a1", "b1", "a2"));
        assertThat(get(lists, key(0, "k", "b"))).isEqualTo(listOf("b2"));
        lists.merge(key(0, "k", "b"), key(0, "k", "a"));
        append(lists, key(0, "k", "b"), "b3");
        assertThat(get(lists, key(0, "k", "b"))).isEqualTo(listOf("b2", "a1", "b1", "a2", "b3"));
        assertThat(lists.get(key(0, "k", "a"))).isNull();
    }

    @ParameterizedTest
    @EnumSource
    default void manyListsMergeIntoOne(ReadAlignment alignment) {
        ListStore lists = store().lists("l", alignment);
        List<Bytes> expected = new ArrayList<>();
        for (int window = 0; window < 500; window++) {
            for (int i = 0; i < window % 5 + 1; i++) {
                append(lists, key(1, "k", "w" + window), noise(window * 7 + i, 200));
                expected.add(new Bytes(noise(window * 7 + i, 200)));
            }
            lists.merge(key(1, "k", "target"), key(1, "k", "w" + window));
        }
        assertThat(get(lists, key(1, "k", "target"))).isEqualTo(expected);
        assertThat(Contents.lists(lists.scan(0, 5))).hasSize(1);
        assertThat(lists.clear(key(1, "k", "target"))).isTrue();
        assertThat(Contents.lists(lists.scan(0, 5))).isEmpty();
    }

    /** Sessions that grow by merging would otherwise cost the square of their size. */
    @ParameterizedTest
    @EnumSource
    default void mergeDoesNotRewriteTheElements(ReadAlignment alignment) {
        ListStore lists = store().lists("l", alignment);
        int count = (int) (2 * budget().totalBytes() / 10_000);
        for (int i = 0; i < count; i++) {
            append(lists, key(0, "k", "big"), noise(i, 10_000));
        }
        long written = store().stats().writtenBytes();
        for (int round = 0; round < 100; round++) {
            append(lists, key(0, "k", "small" + round % 2), "joined in round " + round);
            lists.merge(key(0, "k", "small" + round % 2), key(0, "k", "big"));
            lists.merge(key(0, "k", "big"), key(0, "k", "small" + round % 2));
        }
        assertThat(store().stats().writtenBytes() - written)
                .as("bytes written by 200 merges of a list of 2 budgets")
                .isLessThan(4 * budget().totalBytes());
        assertThat(Objects.requireNonNull(lists.get(key(0, "k", "big"))).size())
                .isEqualTo(count + 100);
    }

    @Test
    default void alignmentIsOnlyAHint() {
        append(store().lists("l", ReadAlignment.ALIGNED), key(0, "k"), "a");
        append(store().lists("l", ReadAlignment.UNALIGNED), key(0, "k"), "b");
        assertThat(get(store().lists("l", ReadAlignment.ALIGNED), key(0, "k")))
                .isEqualTo(listOf("a", "b"));
    }

    @ParameterizedTest
    @EnumSource
    default void listLargerThanTheBudget(ReadAlignment alignment) {
        ListStore lists = store().lists("l", alignment);
        int count = (int) (2 * budget().totalBytes() / 120);
        for (int i = 0; i < count; i++) {
            append(lists, key(0, "k"), noise(i, 100));
            append(lists, key(0, "neighbour"), "n");
        }
        ListReader reader = Objects.requireNonNull(lists.get(key(0, "k")));
        assertThat(reader.size()).isEqualTo(count);
        assertThat(reader.bytes()).isEqualTo(count * 100L);
        ListReader.Elements pass = reader.elements();
        Slice slice = new Slice();
        for (int i = 0; i < count; i++) {
            assertThat(pass.next(slice)).isTrue();
            assertThat(slice.toByteArray()).isEqualTo(noise(i, 100));
        }
        assertThat(pass.next(slice)).isFalse();
        assertThat(get(lists, key(0, "neighbour"))).hasSize(count);
    }

    @ParameterizedTest
    @EnumSource
    default void elementsOfAllSizes(ReadAlignment alignment) {
        ListStore lists = store().lists("l", alignment);
        List<Bytes> expected = new ArrayList<>();
        for (int size : new int[] {0, 1 << 20, 1, 100_000, 20 << 20, 32_768, 512, 0, 511}) {
            append(lists, key(0, "k"), noise(size, size));
            expected.add(new Bytes(noise(size, size)));
        }
        assertThat(get(lists, key(0, "k")).equals(expected)).isTrue();
        assertThat(Contents.lists(lists.scan(0, 0)).containsValue(expected)).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    default void longKeysOfLists(ReadAlignment alignment) {
        ListStore lists = store().lists("l", alignment);
        byte[] other = noise(1, 100_000);
        other[99_999]++;
        append(lists, key(0, noise(1, 100_000), bytes("n")), "a");
        append(lists, key(0, other, bytes("n")), "b");
        append(lists, key(0, noise(1, 100_000), bytes("n")), "c");
        lists.merge(key(0, other, bytes("m")), key(0, other, bytes("n")));
        assertThat(get(lists, key(0, noise(1, 100_000), bytes("n")))).isEqualTo(listOf("a", "c"));
        assertThat(get(lists, key(0, other, bytes("m")))).isEqualTo(listOf("b"));
    }

    @ParameterizedTest
    @EnumSource
    default void listsOfFourTimesTheBudget(ReadAlignment alignment) {
        ListStore lists = store().lists("l", alignment);
        int keys = 3000;
        int rounds = (int) (4 * budget().totalBytes() / 250 / keys);
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < keys; i++) {
                append(lists, key(i % 16, "key-" + i, "w"), noise(i * 1000L + round, 200));
            }
        }
        for (int i = 0; i < keys; i++) {
            List<Bytes> elements = get(lists, key(i % 16, "key-" + i, "w"));
            assertThat(elements).hasSize(rounds);
            int round = i % rounds;
            assertThat(elements.get(round)).isEqualTo(new Bytes(noise(i * 1000L + round, 200)));
        }
    }

    @ParameterizedTest
    @EnumSource
    default void listScanShowsTheRange(ReadAlignment alignment) {
        ListStore lists = store().lists("l", alignment);
        Map<Place, List<Bytes>> expected = new TreeMap<>();
        for (int i = 0; i < 3000; i++) {
            StateKey key = key(i % 20, "key-" + i % 1000, "n");
            append(lists, key, "element " + i);
            if (key.keyGroup() >= 5 && key.keyGroup() <= 9) {
                expected.computeIfAbsent(Place.of(key), absent -> new ArrayList<>())
                        .add(utf8("element " + i));
            }
        }
        assertThat(Contents.lists(lists.scan(5, 9))).isEqualTo(expected);
    }

    @ParameterizedTest
    @EnumSource
    default void listScanSeesWhatStaysExactlyOnce(ReadAlignment alignment) {
        ListStore lists = store().lists("l", alignment);
        for (int i = 0; i < 2000; i++) {
            append(lists, key(i % 4, "stays-" + i), "first", "second");
            append(lists, key(i % 4, "goes-" + i), "x");
        }
        Map<Place, List<Bytes>> seen = new TreeMap<>();
        Random random = new Random(4);
        try (EntryCursor cursor = lists.scan(0, 3)) {
            for (int step = 0; cursor.next(); step++) {
                List<Bytes> elements = Contents.elements(cursor.list());
                Place place = Place.of(cursor.key());
                assertThat(seen.put(place, elements)).as("%s came twice", place).isNull();
                int other = random.nextInt(2000);
                append(lists, key(other % 4, "stays-" + other), "later");
                lists.clear(key(random.nextInt(4), "goes-" + random.nextInt(2000)));
                if (step < 2000) {
                    append(lists, key(step % 4, "comes-" + step), noise(step, step % 600));
                }
            }
        }
        for (int i = 0; i < 2000; i++) {
            assertThat(seen.get(Place.of(key(i % 4, "stays-" + i))))
                    .startsWith(utf8("first"), utf8("second"));
        }
    }
}
