package io.afterbay.store.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StateStore;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.testing.TestForm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * What every {@link StateStore} must do, sentence by sentence of its interfaces. A test of a store
 * extends this class. After every test the store is closed, and must have kept to the budget and
 * left nothing.
 */
public abstract class StateStoreContract
        implements ValueStoreContract,
                ListStoreContract,
                MapStoreContract,
                TriggerScheduleContract,
                StoreSnapshotContract,
                StoreLifecycleContract {
    @TempDir Path temporary;
    private final List<StateStore> opened = new ArrayList<>();
    private final ExecutorService background =
            Executors.newSingleThreadExecutor(
                    task -> {
                        Thread thread = new Thread(task, "store-background");
                        thread.setDaemon(true);
                        return thread;
                    });
    private final MemoryBudget budget = new MemoryBudget(budgetBytes());

    protected abstract StateStore open(StoreOptions options);

    /** The memory of the stores of a test; the larger tests hold a few times as much state. */
    protected long budgetBytes() {
        return TestForm.CONTRACT_STORE_BYTES;
    }

    @BeforeEach
    void openStore() {
        openAnother(FIRST_KEY_GROUP, LAST_KEY_GROUP);
    }

    @Override
    public StateStore store() {
        return opened.get(0);
    }

    @Override
    public StateStore openAnother(int firstKeyGroup, int lastKeyGroup) {
        Path directory = directoryOf(opened.size());
        StateStore store =
                open(
                        TestOptions.of(
                                directory,
                                LocalFiles.system(),
                                budget,
                                background,
                                firstKeyGroup,
                                lastKeyGroup));
        opened.add(store);
        return store;
    }

    @Override
    public MemoryBudget budget() {
        return budget;
    }

    @Override
    public Path directory() {
        return directoryOf(0);
    }

    private Path directoryOf(int store) {
        return temporary.resolve("missing-parent").resolve("store-" + store);
    }

    @AfterEach
    void closeStores() {
        opened.forEach(StateStore::close);
        background.shutdown();
        assertThat(budget.usedBytes()).as("memory in use after close").isZero();
        assertThat(budget.peakBytes())
                .as("the most memory that was in use")
                .isLessThanOrEqualTo(budget.totalBytes());
        for (int i = 0; i < opened.size(); i++) {
            assertThat(Files.exists(directoryOf(i))).as("%s after close", directoryOf(i)).isFalse();
        }
    }
}
