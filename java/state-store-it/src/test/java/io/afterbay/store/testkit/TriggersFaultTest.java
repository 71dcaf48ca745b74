package io.afterbay.store.testkit;

import static io.afterbay.store.testkit.StoreFixture.key;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StateKey;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStoreException;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.Trigger;
import io.afterbay.store.TriggerSchedule;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.store.page.Memory;
import io.afterbay.store.testkit.FaultyLocalFiles.Fault;
import io.afterbay.store.testkit.FaultyLocalFiles.Operation;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A disk that fails while triggers, and nothing else, overflow to it. */
class TriggersFaultTest {
    private static final int TRIGGERS = 1_000_000;

    @TempDir Path directory;
    private final ExecutorService background = Executors.newSingleThreadExecutor();
    private final MemoryBudget budget = new MemoryBudget(1 << 20);

    @AfterEach
    void endBackground() {
        background.shutdown();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 5, 20})
    void nothingIsDoneAfterTriggersCouldNotBeWritten(int nth) {
        long allocatedBefore = Memory.allocatedBytes();
        FaultyLocalFiles files =
                new FaultyLocalFiles(LocalFiles.system())
                        .on(Operation.WRITE, nth, Fault.inputOutputError());
        StoreOptions options =
                TestOptions.of(directory.resolve("store"), files, budget, background, 0, 15);
        try (StateStore store = StateStores.open(options)) {
            TriggerSchedule triggers = store.triggers("timers");
            assertThatThrownBy(() -> fill(triggers))
                    .isInstanceOf(StateStoreException.class)
                    .hasMessageContaining(files.struck().iterator().next().toString());
            List<ThrowingCallable> uses =
                    List.of(
                            () -> triggers.add(1, key(0, "k")),
                            () -> triggers.remove(1, key(0, "k")),
                            () -> triggers.contains(0, keyOf(0)),
                            () -> triggers.peek(new Trigger()),
                            () -> triggers.poll(new Trigger()),
                            () -> triggers.scan(0, 15),
                            store::snapshot);
            uses.forEach(use -> assertThatThrownBy(use).isInstanceOf(StateStoreException.class));
        }
        assertThat(budget.usedBytes()).isZero();
        assertThat(Memory.allocatedBytes()).isEqualTo(allocatedBefore);
    }

    private static void fill(TriggerSchedule triggers) {
        for (int i = 0; i < TRIGGERS; i++) {
            triggers.add(i % 1000, keyOf(i));
        }
    }

    private static StateKey keyOf(int i) {
        return key(i % 16, "key-" + i);
    }
}
