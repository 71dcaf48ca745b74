package io.afterbay.store.testkit;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreTuning;
import io.afterbay.store.io.LocalFiles;
import java.nio.file.Path;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/** The options of the stores that tests open. */
final class TestOptions {
    /** Small batches, so that there are logs of both kinds: gathered, and too long for that. */
    private static final StoreTuning TUNING =
            new StoreTuning(4 << 10, StoreTuning.DEFAULT.hotTierPart());

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
                true,
                READS,
                TUNING);
    }
}
