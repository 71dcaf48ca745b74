package io.afterbay.store.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.store.ListReader;
import io.afterbay.store.ListStore;
import io.afterbay.store.MemoryBudget;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.StateKey;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStoreException;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreStats;
import io.afterbay.store.Trigger;
import io.afterbay.store.TriggerSchedule;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.testing.LongForm;
import io.afterbay.testing.TestForm;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a store takes of memory and disk, counted. */
class BoundsTest {
    private static final int KEY_GROUPS = 128;

    @TempDir private Path directory;
    private final List<StateStore> stores = new ArrayList<>();
    private Executor background = Runnable::run;

    @AfterEach
    void close() {
        stores.forEach(StateStore::close);
    }

    private StoreOptions options(MemoryBudget budget) {
        return TestOptions.of(
                directory.resolve("store-" + stores.size()),
                LocalFiles.system(),
                budget,
                background,
                0,
                KEY_GROUPS - 1);
    }

    private StateStore open(MemoryBudget budget) {
        StateStore store = StateStores.open(options(budget));
        stores.add(store);
        return store;
    }

    private static StateKey key(int number) {
        return new StateKey()
                .setKey(number % KEY_GROUPS, ByteBuffer.allocate(8).putInt(number).array());
    }

    /** Several stores of a slot: all work with what they have, or one says what is too little. */
    @ParameterizedTest
    @CsvSource({"2, 2", "3, 4", "8, 8", "8, 9", "16, 5", "32, 5", "64, 5", "64, 65"})
    void aBudgetIsEnoughOrRefused(int mebibytes, int count) {
        MemoryBudget budget = new MemoryBudget((long) mebibytes << 20);
        if (count > mebibytes) {
            assertThatThrownBy(
                            () -> {
                                for (int i = 0; i < count; i++) {
                                    open(budget);
                                }
                            })
                    .isInstanceOf(StateStoreException.class)
                    .hasMessageContaining("the least is " + (1 << 20))
                    .hasMessageContaining("Give the state backend more memory");
            assertThat(stores).hasSize(mebibytes);
            return;
        }
        for (int i = 0; i < count; i++) {
            open(budget);
        }
        for (int i = 0; i < 3000; i++) {
            for (StateStore store : stores) {
                StoreFixture.put(store.values("values"), key(i), StoreFixture.noise(i, 1000));
            }
        }
        assertThat(budget.usedBytes()).isLessThanOrEqualTo(budget.totalBytes());
        for (StateStore store : stores) {
            assertThat(StoreFixture.get(store.values("values"), key(17)))
                    .isEqualTo(new Bytes(StoreFixture.noise(17, 1000)));
        }
    }

    /** Each partition of its log is gathered in memory. */
    @Test
    void aWindowOfManyKeysIsReadOnceAndInBoundedMemory() {
        fireAWindow(TestForm.WINDOW_KEYS, 1);
    }

    /** Its partitions are too long for that: elements go to the tree, and are read from there. */
    @Test
    @LongForm
    void aWindowOfAMillionKeysIsReadThreeTimesAtMost() {
        fireAWindow(1_000_000, 3);
    }

    private void fireAWindow(int keys, int readsMax) {
        MemoryBudget budget = new MemoryBudget(2 << 20);
        StateStore store = open(budget);
        ListStore lists = store.lists("window", ReadAlignment.ALIGNED);
        TriggerSchedule triggers = store.triggers("timers");
        for (int i = 0; i < keys; i++) {
            StateKey key = key(i);
            StoreFixture.append(lists, key, StoreFixture.noise(i, 50));
            triggers.add(1000, key);
        }
        StoreStats before = store.stats();
        Trigger trigger = new Trigger();
        int fired = 0;
        while (triggers.poll(trigger)) {
            StateKey key = trigger.key();
            ListReader list = lists.get(key);
            assertThat(list).isNotNull();
            lists.clear(key);
            store.releaseReaders();
            fired++;
        }
        StoreStats after = store.stats();
        assertThat(fired).isEqualTo(keys);
        assertThat(before.diskLiveBytes()).isGreaterThan(budget.totalBytes());
        assertThat(after.readBytes() - before.readBytes())
                .as("read of %d", before.diskLiveBytes())
                .isLessThan(readsMax * before.diskLiveBytes() * 12 / 10);
        assertThat(budget.usedBytes()).isLessThanOrEqualTo(budget.totalBytes());
        assertThat(after.diskLiveBytes()).as("left").isLessThan(1 << 20);
    }

    /** Random updates of four times the memory: after each round, and not on average. */
    @Test
    void filesStayWithinTheirAmplification() {
        StateStore store = open(new MemoryBudget(2 << 20));
        int keys = 8_000;
        Random random = new Random(1);
        for (int round = 0; round < 8; round++) {
            for (int i = 0; i < keys; i++) {
                int key = round == 0 ? i : random.nextInt(keys);
                StoreFixture.put(store.values("values"), key(key), StoreFixture.noise(i, 1000));
            }
            StoreStats stats = store.stats();
            assertThat((double) stats.diskTotalBytes())
                    .as("round %d, live %d", round, stats.diskLiveBytes())
                    .isLessThan(1.5 * stats.diskLiveBytes() + 3 * (1 << 20)); // of segments
        }
        assertThat(store.stats().relocatedBytes()).isPositive();
        assertThat(store.stats().compactionStalls()).isZero();
    }

    /** What docs/flink.md says: also where no thread has time for writes and compactions. */
    @Test
    void filesStayWithinTheHardBoundWithoutBackground() {
        background = task -> {};
        StateStore store = open(new MemoryBudget(2 << 20));
        int keys = 8_000;
        Random random = new Random(1);
        for (int i = 0; i < 20 * keys; i++) {
            int key = i < keys ? i : random.nextInt(keys);
            StoreFixture.put(store.values("values"), key(key), StoreFixture.noise(i, 1000));
            if (i % 1000 == 0) {
                StoreStats stats = store.stats();
                assertThat(stats.diskTotalBytes())
                        .isLessThan(3 * stats.diskLiveBytes() + 12 * (1 << 20));
            }
        }
        assertThat(store.stats().compactionStalls()).isPositive();
    }
}
