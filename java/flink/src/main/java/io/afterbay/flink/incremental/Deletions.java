package io.afterbay.flink.incremental;

import io.afterbay.store.io.LocalFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes local files in the background, one after the other: large ones take milliseconds each,
 * and it is the synchronous part of a checkpoint that no longer needs them. A file that stays is no
 * reason to fail: it goes with the directory of the TaskManager. Thread-safe.
 */
final class Deletions {
    private static final Logger LOG = LoggerFactory.getLogger(Deletions.class);

    private final LocalFiles files;
    private final Executor thread = BackgroundThreads.executor(1, "afterbay-delete-");
    private CompletableFuture<Void> last = CompletableFuture.completedFuture(null);

    Deletions(LocalFiles files) {
        this.files = files;
    }

    synchronized void begin(Path file) {
        last = last.thenRunAsync(() -> delete(file), thread);
    }

    private void delete(Path file) {
        try {
            files.delete(file);
        } catch (IOException | RuntimeException e) {
            LOG.warn("Cannot delete a local file of a checkpoint: {}", e.getMessage());
        }
    }

    /** Waits for all that have begun. */
    void await() {
        CompletableFuture<Void> all;
        synchronized (this) {
            all = last;
        }
        all.join();
    }
}
