package io.afterbay.store.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreStats;
import io.afterbay.store.Trigger;
import io.afterbay.store.TriggerSchedule;
import io.afterbay.store.ValueStore;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.store.page.Memory;
import io.afterbay.testing.TestForm;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The smallest values, and one trigger for each key: what a store keeps in memory per entry, such
 * as an index, would be larger than the values and break the budget first.
 */
class TwentyTimesTheBudgetTest {
    private static final long BUDGET_BYTES = TestForm.OVERFULL_STORE_BYTES;
    private static final int KEY_GROUPS = 128;
    private static final int KEYS_PER_TIMESTAMP = 1000;

    @TempDir Path directory;
    private final ExecutorService background = Executors.newSingleThreadExecutor();
    private final MemoryBudget budget = new MemoryBudget(BUDGET_BYTES);
    private final StateKey key = new StateKey();
    private final byte[] bytes = new byte[8];
    private final ByteBuffer buffer = ByteBuffer.wrap(bytes);

    @AfterEach
    void endBackground() {
        background.shutdown();
    }

    @Test
    void eightByteValuesWithATriggerEach() {
        long allocatedBefore = Memory.allocatedBytes();
        try (StateStore store =
                StateStores.open(
                        TestOptions.of(
                                directory.resolve("store"),
                                LocalFiles.system(),
                                budget,
                                background,
                                0,
                                KEY_GROUPS - 1))) {
            int keys = fill(store);
            StoreStats stats = store.stats();
            assertThat(stats.diskLiveBytes())
                    .as("state on disk with %d keys", keys)
                    .isGreaterThanOrEqualTo(20 * BUDGET_BYTES);
            fire(store, keys);
            assertThat(Memory.allocatedBytes() - allocatedBefore)
                    .as("memory that the store has allocated")
                    .isLessThanOrEqualTo(BUDGET_BYTES);
        }
        assertThat(budget.peakBytes()).isLessThanOrEqualTo(BUDGET_BYTES);
        assertThat(budget.usedBytes()).isZero();
        assertThat(directory).isEmptyDirectory();
    }

    /** Adds keys until the state is of the size. */
    private int fill(StateStore store) {
        ValueStore values = store.values("counts");
        TriggerSchedule triggers = store.triggers("timers");
        int keys = 0;
        while (store.stats().diskLiveBytes() < 20 * BUDGET_BYTES) {
            for (int end = keys + 20_000; keys < end; keys++) {
                setKey(keys);
                buffer.putLong(0, keys * 31L);
                values.put(key, bytes, 0, 8);
                assertThat(triggers.add(timestampOf(keys), key)).isTrue();
            }
        }
        return keys;
    }

    /** Fires all triggers, and reads the value of each. */
    private void fire(StateStore store, int keys) {
        ValueStore values = store.values("counts");
        TriggerSchedule triggers = store.triggers("timers");
        Trigger trigger = new Trigger();
        Slice value = new Slice();
        long last = Long.MIN_VALUE;
        long sum = 0;
        for (int fired = 0; fired < keys; fired++) {
            assertThat(triggers.poll(trigger)).isTrue();
            int number = ByteBuffer.wrap(trigger.key().bytes()).getInt(4);
            assertThat(trigger.timestamp()).isEqualTo(timestampOf(number));
            long order = trigger.timestamp() * KEY_GROUPS + trigger.key().keyGroup();
            assertThat(order).as("order of triggers").isGreaterThanOrEqualTo(last);
            last = order;
            assertThat(values.get(trigger.key(), value)).isTrue();
            assertThat(ByteBuffer.wrap(value.array()).getLong(0)).isEqualTo(number * 31L);
            sum += number;
        }
        assertThat(triggers.poll(trigger)).isFalse();
        assertThat(sum).isEqualTo(keys * (keys - 1L) / 2);
    }

    private void setKey(int number) {
        buffer.putLong(0, number);
        key.setKey((number * 7919) & (KEY_GROUPS - 1), bytes, 0, 8);
        buffer.putLong(0, timestampOf(number));
        key.setNamespace(bytes, 0, 8);
    }

    private static long timestampOf(int number) {
        return number / KEYS_PER_TIMESTAMP * 1000L;
    }
}
