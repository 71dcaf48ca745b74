package io.afterbay.store.testkit;

import static io.afterbay.store.testkit.StoreFixture.append;
import static io.afterbay.store.testkit.StoreFixture.key;
import static io.afterbay.store.testkit.StoreFixture.listOf;
import static io.afterbay.store.testkit.StoreFixture.noise;
import static io.afterbay.store.testkit.StoreFixture.poll;
import static io.afterbay.store.testkit.StoreFixture.put;
import static io.afterbay.store.testkit.StoreFixture.remove;
import static io.afterbay.store.testkit.StoreFixture.utf8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import io.afterbay.store.ListStore;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.StateKey;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStoreException;
import io.afterbay.store.StoreSnapshot;
import io.afterbay.store.ValueStore;
import io.afterbay.testing.Await;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The part of {@link StateStoreContract} about {@link StoreSnapshot}. */
interface StoreSnapshotContract extends StoreFixture {
    @Test
    default void snapshotOfUnknownNamesAndEmptyGroupsIsEmpty() {
        put(store().values("v"), key(3, "k"), "value");
        try (StoreSnapshot snapshot = store().snapshot()) {
            put(store().values("later"), key(3, "k"), "value");
            assertThat(Contents.values(snapshot.entries("v", 2))).isEmpty();
            assertThat(Contents.values(snapshot.entries("unknown", 3))).isEmpty();
            assertThat(Contents.values(snapshot.entries("later", 3))).isEmpty();
            assertThat(Contents.values(snapshot.fragments("later", 3))).isEmpty();
            assertThat(Contents.values(snapshot.entries("v", 3))).hasSize(1);
        }
    }

    @Test
    default void snapshotShowsAllShapes() {
        Sample.fill(store());
        try (StoreSnapshot snapshot = store().snapshot()) {
            Sample.check(snapshot);
            Sample.check(snapshot);
        }
    }

    @Test
    default void snapshotKeepsItsContentThroughEveryChange() {
        Sample.fill(store());
        try (StoreSnapshot snapshot = store().snapshot()) {
            Sample.changeEverything(store());
            Sample.check(snapshot);
            Sample.dropEverything(store());
            Sample.check(snapshot);
        }
    }

    @Test
    default void snapshotKeepsItsContentWhileMemoryIsReused() {
        Sample.fill(store());
        try (StoreSnapshot snapshot = store().snapshot()) {
            Sample.changeEverything(store());
            ValueStore churn = store().values("churn");
            int count = (int) (3 * budget().totalBytes() / 1000);
            for (int i = 0; i < count; i++) {
                put(churn, key(i % 4, "key-" + i % 20_000), noise(i, 1000));
            }
            Sample.check(snapshot);
            assertThat(Contents.values(snapshot.entries("churn", 0))).isEmpty();
        }
    }

    @Test
    default void severalSnapshotsShowTheirOwnMoments() {
        for (boolean newestFirst : new boolean[] {true, false}) {
            ValueStore values = store().values("v");
            List<StoreSnapshot> snapshots = new ArrayList<>();
            for (int moment = 0; moment < 6; moment++) {
                for (int i = 0; i < 500; i++) {
                    put(values, key(i % 2, "key-" + i), "moment " + moment);
                }
                values.remove(key(0, "key-" + 2 * moment));
                snapshots.add(store().snapshot());
            }
            store().drop("v");
            for (int closed = 0; closed < 6; closed++) {
                for (int moment = 0; moment < 6; moment++) {
                    boolean isClosed = newestFirst ? moment >= 6 - closed : moment < closed;
                    if (!isClosed) {
                        checkMoment(snapshots.get(moment), moment);
                    }
                }
                snapshots.get(newestFirst ? 5 - closed : closed).close();
            }
        }
    }

    private static void checkMoment(StoreSnapshot snapshot, int moment) {
        Map<Place, Bytes> expected = new TreeMap<>();
        for (int i = 0; i < 500; i += 2) {
            expected.put(Place.of(key(0, "key-" + i)), utf8("moment " + moment));
        }
        expected.remove(Place.of(key(0, "key-" + 2 * moment)));
        assertThat(Contents.values(snapshot.entries("v", 0))).isEqualTo(expected);
    }

    @Test
    default void fragmentsOfAListMakeTheList() {
        ListStore lists = store().lists("l", ReadAlignment.UNALIGNED);
        Map<Place, List<Bytes>> expected = new TreeMap<>();
        for (int i = 0; i < 20_000; i++) {
            append(lists, key(0, "key-" + i % 30), noise(i, i % 300));
            expected.computeIfAbsent(Place.of(key(0, "key-" + i % 30)), absent -> new ArrayList<>())
                    .add(new Bytes(noise(i, i % 300)));
        }
        for (int i = 15; i < 30; i++) {
            StateKey target = key(0, "key-" + (i - 15));
            StateKey source = key(0, "key-" + i);
            lists.merge(target, source);
            List<Bytes> joined =
                    new ArrayList<>(expected.getOrDefault(Place.of(target), List.of()));
            joined.addAll(expected.getOrDefault(Place.of(source), List.of()));
            expected.put(Place.of(target), joined);
            expected.remove(Place.of(source));
        }
        try (StoreSnapshot snapshot = store().snapshot()) {
            Sample.clearLists(lists, expected.keySet());
            assertThat(Contents.lists(snapshot.entries("l", 0)).equals(expected)).isTrue();
            assertThat(Contents.fragments(snapshot.fragments("l", 0)).equals(expected)).isTrue();
        }
    }

    @Test
    default void listsOfASnapshotOutliveReleaseReaders() {
        ListStore lists = store().lists("l", ReadAlignment.ALIGNED);
        append(lists, key(0, "k"), "a", "b");
        try (StoreSnapshot snapshot = store().snapshot();
                EntryCursor cursor = snapshot.entries("l", 0)) {
            assertThat(cursor.next()).isTrue();
            ListReader reader = cursor.list();
            lists.clear(key(0, "k"));
            store().releaseReaders();
            assertThat(Contents.elements(reader)).isEqualTo(listOf("a", "b"));
        }
    }

    @Test
    default void snapshotIsReadByAnotherThreadWhileTheOwnerWorksOn() throws Exception {
        Sample.fill(store());
        ValueStore values = store().values("bulk");
        int count = (int) (2 * budget().totalBytes() / 1000);
        for (int i = 0; i < count; i++) {
            put(values, key(i % 4, "key-" + i), noise(i, 1000));
        }
        try (StoreSnapshot snapshot = store().snapshot()) {
            CompletableFuture<Integer> reader =
                    CompletableFuture.supplyAsync(() -> readSampleAndBulk(snapshot));
            for (int i = 0; !reader.isDone(); i++) {
                put(values, key(i % 4, "key-" + i % count), noise(i + 1, 900));
                if (i == 1000) {
                    Sample.changeEverything(store());
                }
            }
            assertThat(reader.get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS)).isEqualTo(count);
        }
    }

    private static int readSampleAndBulk(StoreSnapshot snapshot) {
        Sample.check(snapshot);
        return readBulk(snapshot);
    }

    /** A count, not seconds: freezing must not walk through the state. */
    @Test
    default void snapshotDoesNotTouchTheState() {
        ValueStore values = store().values("v");
        int count = (int) (4 * budget().totalBytes() / 1000);
        for (int i = 0; i < count; i++) {
            put(values, key(i % 4, "key-" + i), noise(i, 1000));
        }
        long faults = store().stats().pageFaults();
        long written = store().stats().writtenBytes();
        for (int i = 0; i < 10; i++) {
            store().snapshot().close();
        }
        assertThat(store().stats().pageFaults() - faults).as("page faults").isLessThan(100);
        assertThat(store().stats().writtenBytes() - written)
                .as("bytes written")
                .isLessThan(2 * budget().totalBytes());
    }

    @Test
    default void snapshotRestoresIntoStoresOfOtherKeyGroups() {
        Sample.fill(store());
        try (StoreSnapshot snapshot = store().snapshot()) {
            StateStore low = openAnother(0, 6);
            StateStore high = openAnother(7, 32767);
            Restoring.copy(snapshot, 0, 6, low, Sample.SHAPES);
            Restoring.copy(snapshot, 7, Sample.LAST_GROUP, high, Sample.SHAPES);
            try (StoreSnapshot first = low.snapshot();
                    StoreSnapshot second = high.snapshot()) {
                Sample.check(group -> group <= 6 ? first : second);
            }
        }
    }

    @Test
    default void snapshotClosesTwiceAndBeforeAnyRead() {
        Sample.fill(store());
        StoreSnapshot snapshot = store().snapshot();
        snapshot.close();
        snapshot.close();
        store().snapshot().close();
        try (StoreSnapshot another = store().snapshot()) {
            Sample.check(another);
        }
    }

    @Test
    default void storeClosesWhileASnapshotIsOpen() {
        Sample.fill(store());
        StoreSnapshot snapshot = store().snapshot();
        EntryCursor cursor = snapshot.entries(Sample.VALUES, 0);
        assertThat(cursor.next()).isTrue();
        store().close();
        assertThatThrownBy(cursor::next).isInstanceOf(RuntimeException.class);
        assertThatThrownBy(() -> snapshot.entries(Sample.VALUES, 0).next())
                .isInstanceOf(RuntimeException.class);
        cursor.close();
        snapshot.close();
        assertThat(budget().usedBytes()).isZero();
    }

    @Test
    default void storeClosesWhileASnapshotIsBeingRead() throws Exception {
        ValueStore values = store().values("bulk");
        int count = (int) (2 * budget().totalBytes() / 1000);
        for (int i = 0; i < count; i++) {
            put(values, key(i % 4, "key-" + i), noise(i, 1000));
        }
        StoreSnapshot snapshot = store().snapshot();
        CountDownLatch started = new CountDownLatch(1);
        CompletableFuture<Integer> reader =
                CompletableFuture.supplyAsync(
                        () -> {
                            started.countDown();
                            return readBulk(snapshot);
                        });
        started.await();
        Thread.sleep(5);
        store().close();
        assertThat(budget().usedBytes()).isZero();
        try {
            assertThat(reader.get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS)).isEqualTo(count);
        } catch (ExecutionException e) {
            assertThat(e.getCause())
                    .isInstanceOfAny(StateStoreException.class, IllegalStateException.class);
        }
        snapshot.close();
    }

    private static int readBulk(StoreSnapshot snapshot) {
        int seen = 0;
        for (int group = 0; group < 4; group++) {
            try (EntryCursor cursor = snapshot.entries("bulk", group)) {
                for (; cursor.next(); seen++) {
                    String key =
                            new String(
                                    cursor.key().bytes(),
                                    0,
                                    cursor.key().length(),
                                    StandardCharsets.UTF_8);
                    int i = Integer.parseInt(key.substring("key-".length()));
                    assertThat(cursor.value().toByteArray()).isEqualTo(noise(i, 1000));
                }
            }
        }
        return seen;
    }

    @Test
    default void snapshotsTakenAndClosedOftenLeaveTheStateAsItIs() {
        for (int round = 0; round < 200; round++) {
            put(store().values("v"), key(0, "k" + round % 10), "round " + round);
            append(store().lists("l", ReadAlignment.UNALIGNED), key(0, "k"), "e" + round);
            put(store().maps("m"), key(0, "k"), "u" + round % 7, "v" + round);
            store().triggers("t").add(round, key(0, "k"));
            StoreSnapshot snapshot = store().snapshot();
            remove(store().maps("m"), key(0, "k"), "u" + (round + 1) % 7);
            if (round % 2 == 0) {
                assertThat(poll(store().triggers("t"))).isNotNull();
            }
            assertThat(Contents.lists(snapshot.entries("l", 0)).values().iterator().next())
                    .hasSize(round + 1);
            snapshot.close();
        }
        assertThat(Contents.values(store().values("v").scan(0, 0))).hasSize(10);
        assertThat(store().triggers("t").size()).isEqualTo(100);
    }
}
