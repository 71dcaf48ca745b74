package io.afterbay.store.testkit;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.LocalFiles;
import java.nio.file.Path;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/** The options of the stores that tests open. */
final class TestOptions {
    private static final Executor READS = Executors.newCachedThreadPool(TestOptions::daemon);

    private TestOptions() {}

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "reads");
        thread.setDaemon(true);
        return thread;
    }

    static StoreOptions of(
            Path directory,
            LocalFiles files,
            MemoryBudget budget,
            Executor background,
            int firstKeyGroup,
            int lastKeyGroup) {
        StoreOptions options =
                new StoreOptions(
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
        return options.withReads(READS);
    }
}
