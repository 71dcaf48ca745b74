package io.afterbay.store.paged;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.ValueStore;
import io.afterbay.store.io.LocalFiles;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How often values that are read and written go to the disk, with far more of them than memory. */
class HotValuesTest {
    private static final int KEYS = 150_000;
    private static final int ACCESSES = 60_000;

    @TempDir private Path directory;
    private final Random random = new Random(3);
    private final Slice value = new Slice();
    private final long[] counts = new long[KEYS];
    private StateStore store;
    private ValueStore values;

    @BeforeEach
    void open() {
        store =
                StateStores.open(
                        new StoreOptions(
                                "values",
                                directory.resolve("store"),
                                LocalFiles.system(),
                                new MemoryBudget(2 << 20),
                                Runnable::run,
                                Runnable::run,
                                Runnable::run,
                                0,
                                127,
                                1.5,
                                true));
        values = store.values("counts");
        for (int key = 0; key < KEYS; key++) {
            increment(key);
        }
    }

    @AfterEach
    void close() {
        for (int key = 0; key < KEYS; key += 97) {
            assertThat(values.get(key(key), value)).isTrue();
            assertThat(ByteBuffer.wrap(value.array()).getLong()).isEqualTo(counts[key]);
        }
        store.close();
    }

    private static StateKey key(int number) {
        byte[] bytes = ByteBuffer.allocate(40).putInt(number).array();
        return new StateKey().setKey(number & 127, bytes);
    }

    private void increment(int number) {
        StateKey key = key(number);
        long count = values.get(key, value) ? ByteBuffer.wrap(value.array()).getLong() : 0;
        values.put(key, ByteBuffer.allocate(8).putLong(count + 1).array(), 0, 8);
        counts[number]++;
    }

    private double faultsPerAccess(int keys) {
        for (int i = 0; i < ACCESSES; i++) {
            increment(random.nextInt(keys)); // until the tier has found out
        }
        long before = store.stats().pageFaults();
        for (int i = 0; i < ACCESSES; i++) {
            increment(random.nextInt(keys));
        }
        return (double) (store.stats().pageFaults() - before) / ACCESSES;
    }

    @Test
    void anEntryThatComesOnceIsReadOnce() {
        assertThat(faultsPerAccess(KEYS)).isBetween(0.5, 1.15);
    }

    @Test
    void entriesThatFitInMemoryAreNotReadAtAll() {
        assertThat(faultsPerAccess(1000)).isLessThan(0.02);
    }
}
