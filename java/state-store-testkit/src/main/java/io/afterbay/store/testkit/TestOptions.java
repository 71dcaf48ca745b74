package io.afterbay.store.testkit;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.LocalFiles;
import java.nio.file.Path;
import java.util.concurrent.Executor;

/** The options of the stores that tests open. */
final class TestOptions {
    private TestOptions() {}

    static StoreOptions of(
            Path directory,
            LocalFiles files,
            MemoryBudget budget,
            Executor background,
            int firstKeyGroup,
            int lastKeyGroup) {
        return new StoreOptions(
                directory.getFileName().toString(),
                directory,
                files,
                budget,
                background,
                background,
                Runnable::run, // one thread owns all stores of a test
                firstKeyGroup,
                lastKeyGroup,
                StoreOptions.DEFAULT_MAX_SPACE_AMPLIFICATION,
                true);
    }
}
