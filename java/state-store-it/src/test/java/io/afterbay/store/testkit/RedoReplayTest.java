package io.afterbay.store.testkit;

import static io.afterbay.store.testkit.Churn.LAST_KEY_GROUP;
import static io.afterbay.store.testkit.Churn.SHAPES;
import static io.afterbay.store.testkit.Churn.VALUES;
import static io.afterbay.store.testkit.StoreFixture.append;
import static io.afterbay.store.testkit.StoreFixture.bytes;
import static io.afterbay.store.testkit.StoreFixture.get;
import static io.afterbay.store.testkit.StoreFixture.key;
import static io.afterbay.store.testkit.StoreFixture.listOf;
import static io.afterbay.store.testkit.StoreFixture.noise;
import static io.afterbay.store.testkit.StoreFixture.put;
import static io.afterbay.store.testkit.StoreFixture.utf8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.StateKey;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStoreException;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreOwner;
import io.afterbay.store.StoreSnapshot;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.store.redo.RedoReplay;
import io.afterbay.testing.Await;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A snapshot and a redo log make up the content; what is damaged is refused. */
class RedoReplayTest {
    /** A task that reads no mail. */
    private static final StoreOwner BUSY = mail -> {};

    @TempDir private Path directory;
    private final List<StateStore> stores = new ArrayList<>();
    private final List<byte[]> log = new ArrayList<>();

    @AfterEach
    void close() {
        stores.forEach(StateStore::close);
    }

    private StateStore open() {
        return open(options(new MemoryBudget(8 << 20)));
    }

    private StateStore open(StoreOptions options) {
        StateStore store = StateStores.open(options);
        stores.add(store);
        return store;
    }

    private StoreOptions options(MemoryBudget budget) {
        return TestOptions.of(
                directory.resolve("store-" + stores.size()),
                LocalFiles.system(),
                budget,
                Runnable::run,
                0,
                LAST_KEY_GROUP);
    }

    private void startRedo(StateStore store) {
        store.startRedo((bytes, length) -> log.add(Arrays.copyOf(bytes, length)));
    }

    private void replay(StateStore target) {
        replay(target, 0, LAST_KEY_GROUP);
    }

    private void replay(StateStore target, int firstKeyGroup, int lastKeyGroup) {
        RedoReplay replay = new RedoReplay(target, firstKeyGroup, lastKeyGroup);
        target.beginReplay(logBytes());
        log.forEach(chunk -> replay.apply(chunk, chunk.length));
        target.endReplay();
    }

    /**
     * A store that was changed before and after its log began, and a copy of it at the beginning.
     */
    private StateStore changedWithCopy(StateStore copy) {
        StateStore store = open();
        Churn.change(store, 1);
        try (StoreSnapshot base = store.snapshot()) {
            startRedo(store);
            Churn.change(store, 2);
            Restoring.copy(base, 0, LAST_KEY_GROUP, copy, SHAPES);
        }
        Churn.change(store, 3);
        store.flushRedo();
        return store;
    }

    @Test
    void snapshotAndLogMakeUpTheContent() {
        StateStore copy = open();
        StateStore store = changedWithCopy(copy);
        replay(copy);
        assertThat(log.size()).as("chunks").isGreaterThan(1);
        assertThat(Churn.content(copy, 0, LAST_KEY_GROUP))
                .isEqualTo(Churn.content(store, 0, LAST_KEY_GROUP));
    }

    /** What was replayed, and what happened behind that, are together what the logs say. */
    @Test
    void aLogGoesOnBehindTheOneThatWasReplayed() {
        StateStore resumed = open();
        changedWithCopy(resumed);
        replay(resumed);
        resumed.resumeRedo((bytes, length) -> log.add(Arrays.copyOf(bytes, length)));
        StateStore copy = open();
        Churn.change(copy, 1); // as changedWithCopy has begun
        Churn.change(resumed, 4);
        resumed.flushRedo();
        resumed.expectSnapshot(true);
        Churn.change(resumed, 5);
        resumed.flushRedo();
        replay(copy);
        assertThat(Churn.content(copy, 0, LAST_KEY_GROUP))
                .isEqualTo(Churn.content(resumed, 0, LAST_KEY_GROUP));
    }

    /**
     * While the store was alone it took half of the memory for what it replays; what it replays
     * then does not go there.
     */
    @Test
    void aReplayMakesRoomForStoresOfOtherTasks() throws Exception {
        StateStore store = withManyValues();
        int values = log.size();
        for (int i = 0; i < 40_000; i++) {
            StateKey key = key(i % (LAST_KEY_GROUP + 1), "k" + i % 1_000);
            append(store.lists("windows", ReadAlignment.ALIGNED), key, noise(i, 100));
        }
        store.flushRedo();
        MemoryBudget shared = new MemoryBudget(8 << 20);
        StateStore copy = open(options(shared).withOwner(BUSY));
        RedoReplay replay = new RedoReplay(copy, 0, LAST_KEY_GROUP);
        copy.beginReplay(logBytes());
        apply(replay, log.subList(0, values));
        ExecutorService otherTask = Executors.newSingleThreadExecutor();
        try {
            Future<?> others = otherTask.submit(() -> fillFour(shared, otherTask::execute));
            apply(replay, log.subList(values, log.size()));
            while (!others.isDone()) {
                copy.continueReplay();
            }
            others.get();
            // What they left, the rest of the replay may have taken again.
            shared.raisePressure(() -> {});
            copy.continueReplay();
            copy.endReplay();
            assertThat(copy.stats().memoryBytes()).as("not half of it").isLessThan(4 << 20);
            assertThat(get(copy.values(VALUES), key(7, "k7"))).isEqualTo(new Bytes(noise(7, 500)));
        } finally {
            otherTask.shutdown();
            Await.until("the other task to end", otherTask::isTerminated);
        }
    }

    /** They cannot read mail, as the one operation asks the other store for memory. */
    @Test
    void whatWasReplayedMakesRoomForStoresOfTheSameTask() {
        withManyValues();
        MemoryBudget shared = new MemoryBudget(8 << 20);
        StateStore copy = open(options(shared).withOwner(BUSY));
        copy.beginReplay(logBytes());
        apply(new RedoReplay(copy, 0, LAST_KEY_GROUP), log);
        copy.endReplay();
        assertThat(shared.usedBytes()).isGreaterThan(4 << 20);

        fillFour(shared, BUSY);

        assertThat(copy.stats().memoryBytes()).as("not half of it").isLessThan(4 << 20);
        assertThat(get(copy.values(VALUES), key(7, "k7"))).isEqualTo(new Bytes(noise(7, 500)));
    }

    /** None is written home on the way: afterwards each operation does that with two. */
    @Test
    void aReplayOfSmallEntriesStaysInMemory() {
        int entries = 120_000;
        byte[] value = noise(1, 8);
        StateStore store = open(options(new MemoryBudget(32 << 20)));
        startRedo(store);
        for (int i = 0; i < entries; i++) {
            put(store.values(VALUES), key(i % (LAST_KEY_GROUP + 1), "k" + i), value);
        }
        store.flushRedo();
        StateStore copy = open(options(new MemoryBudget(32 << 20)));
        replay(copy);
        for (int operations = 0; operations < entries / 2 * 9 / 10; operations++) {
            assertThat(copy.isSnapshotPrepared()).as("after %d operations", operations).isFalse();
            put(copy.values(VALUES), key(1, "another"), value);
        }
    }

    /** With a log of all its changes. */
    private StateStore withManyValues() {
        StateStore store = open();
        startRedo(store);
        for (int i = 0; i < 8_000; i++) {
            put(store.values(VALUES), key(i % (LAST_KEY_GROUP + 1), "k" + i), noise(i, 500));
        }
        store.flushRedo();
        return store;
    }

    private void fillFour(MemoryBudget shared, StoreOwner owner) {
        for (int i = 0; i < 4; i++) {
            Churn.change(open(options(shared).withOwner(owner)), i);
        }
    }

    private long logBytes() {
        return log.stream().mapToLong(chunk -> chunk.length).sum();
    }

    private static void apply(RedoReplay replay, List<byte[]> chunks) {
        chunks.forEach(chunk -> replay.apply(chunk, chunk.length));
    }

    /** Negative control: each chunk counts. */
    @Test
    void withoutOneChunkTheContentDiffers() {
        StateStore copy = open();
        StateStore store = changedWithCopy(copy);
        log.remove(1);
        replay(copy);
        assertThat(Churn.content(copy, 0, LAST_KEY_GROUP))
                .isNotEqualTo(Churn.content(store, 0, LAST_KEY_GROUP));
    }

    @Test
    void onlyTheKeyGroupsThatAreAskedForAreChanged() {
        StateStore store = open();
        startRedo(store);
        Churn.change(store, 1);
        store.flushRedo();
        StateStore part = open();
        replay(part, 2, 4);
        assertThat(Churn.content(part, 2, 4)).isEqualTo(Churn.content(store, 2, 4));
        assertThat(Churn.content(part, 0, 1)).isEqualTo(Churn.content(open(), 0, 1));
        assertThat(Churn.content(part, 5, LAST_KEY_GROUP))
                .isEqualTo(Churn.content(open(), 5, LAST_KEY_GROUP));
    }

    /** The hot tier absorbs what does not last until the flush. */
    @Test
    void aValueThatChangesOftenIsWrittenOnce() {
        StateStore store = open();
        put(store.values(VALUES), key(0, "first"), "makes the tier take memory");
        startRedo(store);
        for (int i = 0; i < 10_000; i++) {
            put(store.values(VALUES), key(1, "counter"), "count " + i);
        }
        store.flushRedo();
        assertThat(log.stream().mapToInt(chunk -> chunk.length).sum()).isLessThan(100);
        StateStore copy = open();
        replay(copy);
        assertThat(get(copy.values(VALUES), key(1, "counter"))).isEqualTo(utf8("count 9999"));
    }

    @Test
    void aRecordMayBeLongerThanAChunk() {
        StateStore store = open();
        startRedo(store);
        var lists = store.lists("unaligned", ReadAlignment.UNALIGNED);
        append(lists, key(1, "list"), "before");
        byte[] long1 = noise(1, 1 << 20);
        append(lists, key(1, "list"), long1);
        append(lists, key(1, "list"), "behind");
        store.flushRedo();
        StateStore copy = open();
        replay(copy);
        assertThat(get(copy.lists("unaligned", ReadAlignment.UNALIGNED), key(1, "list")))
                .containsExactly(utf8("before"), new Bytes(long1), utf8("behind"));
    }

    @Test
    void droppedStatesAreDroppedAndMayComeAgain() {
        StateStore store = open();
        startRedo(store);
        put(store.values("one"), key(1, "key"), "old");
        store.drop("one");
        append(store.lists("one", ReadAlignment.UNALIGNED), key(1, "key"), "new");
        store.drop("never opened");
        store.flushRedo();
        StateStore copy = open();
        replay(copy);
        assertThat(get(copy.lists("one", ReadAlignment.UNALIGNED), key(1, "key")))
                .isEqualTo(listOf("new"));
    }

    @Test
    void afterTheEndNothingIsWritten() {
        StateStore store = open();
        startRedo(store);
        put(store.values(VALUES), key(1, "key"), "is in the log");
        store.flushRedo();
        int chunks = log.size();
        store.endRedo();
        put(store.values(VALUES), key(1, "key"), "is not");
        store.flushRedo();
        assertThat(log).hasSize(chunks).isNotEmpty();
    }

    @Test
    void everyPrefixThatIsNoWholeRecordIsRefused() {
        StateStore store = open();
        startRedo(store);
        put(store.maps("maps"), key(1, "key", "namespace"), "user key", "value");
        store.flushRedo();
        byte[] chunk = log.get(0);
        RedoReplay replay = new RedoReplay(open(), 0, LAST_KEY_GROUP);
        int declaration = 2 + 1 + "maps".length();
        for (int length = 1; length < chunk.length; length++) {
            byte[] prefix = Arrays.copyOf(chunk, length);
            if (length != declaration) {
                assertThatThrownBy(() -> replay.apply(prefix, prefix.length))
                        .as("%d of %d bytes", length, chunk.length)
                        .isInstanceOf(StateStoreException.class)
                        .hasMessageContaining("the redo log is damaged at byte");
            }
        }
        replay.apply(chunk, chunk.length);
        assertThat(replay.changes()).isPositive();
    }

    @Test
    void whatIsUnknownIsNamed() {
        assertRefused(new byte[] {1, 9, 1, 'x'}, "state x is of the unknown kind 9");
        assertRefused(new byte[] {3, 0}, "state 0 is not declared");
        byte[] valuesOnMaps = {1, 4, 1, 'x', 3, 0, 0, 0, 0, 0};
        assertRefused(valuesOnMaps, "operation 3 on state x");
        byte[] longerThanTheElements = {1, 3, 1, 'x', 5, 0, 0, 0, 0, 1, 2, 'a', 'b'};
        assertRefused(longerThanTheElements, "the last element ends behind the elements");
    }

    private void assertRefused(byte[] chunk, String message) {
        RedoReplay replay = new RedoReplay(open(), 0, LAST_KEY_GROUP);
        assertThatThrownBy(() -> replay.apply(chunk, chunk.length))
                .isInstanceOf(StateStoreException.class)
                .hasMessageContaining(message);
    }

    /** The example of spec/redo-log.md. */
    @Test
    void theExampleOfTheSpecification() {
        StateStore store = open();
        startRedo(store);
        put(store.values("v"), key(3, "k", "n"), "abc");
        store.triggers("t").add(258, key(3, "k"));
        store.flushRedo();
        assertThat(log).hasSize(1);
        assertThat(log.get(0))
                .isEqualTo(
                        concat(
                                new byte[] {1, 1, 1, 'v'},
                                new byte[] {3, 0, 3, 1, 1, 'k', 'n', 3, 'a', 'b', 'c'},
                                new byte[] {1, 5, 1, 't'},
                                new byte[] {11, 1, 3, 1, 0, 'k', 0, 0, 0, 0, 0, 0, 1, 2}));
        StateStore copy = open();
        replay(copy);
        assertThat(get(copy.values("v"), key(3, "k", "n"))).isEqualTo(new Bytes(bytes("abc")));
    }

    private static byte[] concat(byte[]... parts) {
        int length = Arrays.stream(parts).mapToInt(part -> part.length).sum();
        byte[] whole = new byte[length];
        int at = 0;
        for (byte[] part : parts) {
            System.arraycopy(part, 0, whole, at, part.length);
            at += part.length;
        }
        return whole;
    }
}
