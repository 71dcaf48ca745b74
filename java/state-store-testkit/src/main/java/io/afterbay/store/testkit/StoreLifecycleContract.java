package io.afterbay.store.testkit;

import static io.afterbay.store.testkit.StoreFixture.append;
import static io.afterbay.store.testkit.StoreFixture.get;
import static io.afterbay.store.testkit.StoreFixture.key;
import static io.afterbay.store.testkit.StoreFixture.listOf;
import static io.afterbay.store.testkit.StoreFixture.noise;
import static io.afterbay.store.testkit.StoreFixture.peek;
import static io.afterbay.store.testkit.StoreFixture.put;
import static io.afterbay.store.testkit.StoreFixture.utf8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import io.afterbay.store.ListStore;
import io.afterbay.store.MapStore;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.Slice;
import io.afterbay.store.StateStore;
import io.afterbay.store.StoreStats;
import io.afterbay.store.TriggerSchedule;
import io.afterbay.store.ValueStore;
import java.nio.file.Files;
import java.util.List;
import java.util.Objects;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** The part of {@link StateStoreContract} about opening, dropping, sharing memory and closing. */
interface StoreLifecycleContract extends StoreFixture {
    @Test
    default void aNameHasOneShape() {
        store().values("state-of-values");
        assertThatThrownBy(() -> store().maps("state-of-values"))
                .isInstanceOf(RuntimeException.class)
                .hasMessageContaining("state-of-values");
        store().triggers("state-of-triggers");
        assertThatThrownBy(() -> store().lists("state-of-triggers", ReadAlignment.ALIGNED))
                .isInstanceOf(RuntimeException.class)
                .hasMessageContaining("state-of-triggers");
        put(store().values("state-of-values"), key(0, "k"), "still works");
        assertThat(get(store().values("state-of-values"), key(0, "k")))
                .isEqualTo(utf8("still works"));
    }

    @Test
    default void namesOfAnyKind() {
        List<String> names = List.of("", " ", "a/../b", "\u00e4\u6f22", "x".repeat(5000), "a", "A");
        names.forEach(name -> put(store().values(name), key(0, "k"), "in " + name));
        names.forEach(
                name ->
                        assertThat(get(store().values(name), key(0, "k")))
                                .isEqualTo(utf8("in " + name)));
    }

    @Test
    default void dropForgetsOneStateOnly() {
        Sample.fill(store());
        put(store().values("stays"), key(0, "k"), "value");
        store().drop("unknown");
        Sample.dropEverything(store());
        assertThat(get(store().values("stays"), key(0, "k"))).isEqualTo(utf8("value"));
        assertThat(Contents.values(store().values(Sample.VALUES).scan(0, 32767))).isEmpty();
        assertThat(store().triggers("sample-triggers").size()).isZero();
        assertThat(peek(store().triggers("sample-triggers"))).isNull();
        ListStore lists = store().lists("sample-lists", ReadAlignment.UNALIGNED);
        assertThat(Contents.lists(lists.scan(0, 32767))).isEmpty();
        assertThat(Contents.maps(store().maps("sample-maps").scan(0, 32767))).isEmpty();
    }

    @Test
    default void droppedNameStartsAnew() {
        for (int round = 0; round < 20; round++) {
            ValueStore values = store().values("v");
            for (int i = 0; i < 2000; i++) {
                assertThat(get(values, key(i % 5, "key-" + i))).isNull();
                put(values, key(i % 5, "key-" + i), noise(i, 100));
            }
            store().drop("v");
        }
    }

    @Test
    default void readersOutliveTheDropOfTheirState() {
        ListStore lists = store().lists("l", ReadAlignment.ALIGNED);
        append(lists, key(0, "k"), "a", "b");
        ListReader reader = Objects.requireNonNull(lists.get(key(0, "k")));
        store().drop("l");
        append(store().lists("l", ReadAlignment.ALIGNED), key(0, "k"), "c");
        assertThat(Contents.elements(reader)).isEqualTo(listOf("a", "b"));
        store().releaseReaders();
    }

    @Test
    default void releaseReadersIsHarmlessWithoutReaders() {
        store().releaseReaders();
        append(store().lists("l", ReadAlignment.ALIGNED), key(0, "k"), "a");
        store().releaseReaders();
        store().releaseReaders();
        assertThat(get(store().lists("l", ReadAlignment.ALIGNED), key(0, "k")))
                .isEqualTo(listOf("a"));
    }

    /** Frees, for the same use, what was held: a leak of a page a round would exceed the budget. */
    @Test
    default void memoryAndDiskOfWhatIsGoneAreUsedAgain() {
        int count = (int) (budget().totalBytes() / 4 / 1000);
        for (int round = 0; round < 20; round++) {
            ValueStore values = store().values("v");
            ListStore lists = store().lists("l", ReadAlignment.ALIGNED);
            for (int i = 0; i < count; i++) {
                put(values, key(0, "key-" + i), noise(i, 500));
                append(lists, key(0, "key-" + i, "w" + round), noise(i, 500));
            }
            for (int i = 0; i < count; i++) {
                assertThat(values.remove(key(0, "key-" + i))).isTrue();
                assertThat(lists.clear(key(0, "key-" + i, "w" + round))).isTrue();
            }
        }
        assertThat(store().stats().diskTotalBytes())
                .as("disk use of an emptied store")
                .isLessThan(4 * budget().totalBytes());
    }

    @Test
    default void twoStoresShareABudget() {
        StateStore second = openAnother(0, 127);
        int count = (int) (2 * budget().totalBytes() / 500);
        for (int i = 0; i < count; i++) {
            put(store().values("v"), key(i % 128, "key-" + i), noise(i, 400));
            put(second.values("v"), key(i % 128, "key-" + i), noise(-i, 400));
        }
        for (int i = 0; i < count; i += 11) {
            assertThat(get(store().values("v"), key(i % 128, "key-" + i)))
                    .isEqualTo(new Bytes(noise(i, 400)));
            assertThat(get(second.values("v"), key(i % 128, "key-" + i)))
                    .isEqualTo(new Bytes(noise(-i, 400)));
        }
        second.close();
        assertThat(get(store().values("v"), key(5, "key-5"))).isEqualTo(new Bytes(noise(5, 400)));
    }

    @Test
    default void aStoreMayOpenWhenOthersHoldTheWholeBudget() {
        int count = (int) (2 * budget().totalBytes() / 500);
        for (int i = 0; i < count; i++) {
            put(store().values("v"), key(i % 128, "key-" + i), noise(i, 400));
        }
        StateStore second = openAnother(0, 127);
        put(second.values("v"), key(0, "k"), "value");
        for (int i = 0; i < count; i += 7) {
            put(store().values("v"), key(i % 128, "key-" + i), noise(i + 1, 400));
            put(second.values("v"), key(i % 128, "key-" + i), noise(-i, 400));
        }
        assertThat(get(second.values("v"), key(0, "k"))).isEqualTo(utf8("value"));
        assertThat(get(second.values("v"), key(7, "key-7"))).isEqualTo(new Bytes(noise(-7, 400)));
        assertThat(get(store().values("v"), key(7, "key-7"))).isEqualTo(new Bytes(noise(8, 400)));
    }

    @Test
    default void statsAreConsistent() {
        Sample.fill(store());
        StoreStats stats = store().stats();
        assertThat(stats.memoryBytes()).isBetween(0L, budget().usedBytes());
        assertThat(stats.memoryLimitBytes()).isBetween(1L, budget().totalBytes());
        assertThat(stats.diskTotalBytes()).isGreaterThanOrEqualTo(stats.diskLiveBytes());
        assertThat(stats.writtenBytes()).isGreaterThanOrEqualTo(stats.relocatedBytes());
    }

    @Test
    default void closeIsIdempotentAndDeletesTheDirectory() {
        Sample.fill(store());
        store().close();
        assertThat(Files.exists(directory())).isFalse();
        assertThat(budget().usedBytes()).isZero();
        store().close();
    }

    @Test
    default void closeOfAnUnusedStore() {
        store().close();
        assertThat(Files.exists(directory())).isFalse();
    }

    /** What is freed must not be reached any more, whatever the caller still holds. */
    @Test
    default void useAfterCloseThrows() {
        ValueStore values = store().values("v");
        ListStore lists = store().lists("l", ReadAlignment.UNALIGNED);
        MapStore maps = store().maps("m");
        TriggerSchedule triggers = store().triggers("t");
        put(values, key(0, "k"), "value");
        append(lists, key(0, "k"), "a".repeat(3000), "b"); // a short one may be a copy
        put(maps, key(0, "k"), "u", "v");
        triggers.add(1, key(0, "k"));
        ListReader reader = Objects.requireNonNull(lists.get(key(0, "k")));
        ListReader.Elements pass = reader.elements();
        EntryCursor scan = values.scan(0, 10);
        EntryCursor entries = maps.entries(key(0, "k"));
        store().close();
        List<ThrowingCallable> uses =
                List.of(
                        () -> get(values, key(0, "k")),
                        () -> put(values, key(0, "k"), "new"),
                        () -> values.remove(key(0, "k")),
                        () -> values.scan(0, 1).next(),
                        () -> lists.get(key(0, "k")),
                        () -> append(lists, key(0, "k"), "c"),
                        () -> lists.clear(key(0, "k")),
                        () -> get(maps, key(0, "k"), "u"),
                        () -> put(maps, key(0, "k"), "u", "w"),
                        () -> maps.isEmpty(key(0, "k")),
                        () -> peek(triggers),
                        () -> triggers.add(2, key(0, "k")),
                        () -> pass.next(new Slice()),
                        () -> reader.elements().next(new Slice()),
                        scan::next,
                        entries::next,
                        () -> store().snapshot(),
                        () -> store().values("another"));
        for (int i = 0; i < uses.size(); i++) {
            assertThatThrownBy(uses.get(i), "use %d", i).isInstanceOf(RuntimeException.class);
        }
        scan.close();
        entries.close();
    }
}
