package io.afterbay.dfs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/**
 * Time that uploads take behind the tasks which wrote the files. A commit waits for the uploads of
 * the batch before, so that one batch is on its way at most.
 */
final class BackgroundUploads {
    private static final int THREADS = 4;

    private final Executor threads =
            Executors.newFixedThreadPool(
                    THREADS,
                    task -> {
                        Thread thread = new Thread(task, "background upload");
                        thread.setDaemon(true);
                        return thread;
                    });
    private List<CompletableFuture<Void>> ofLastBatch = new ArrayList<>();
    private List<CompletableFuture<Void>> ofThisBatch = new ArrayList<>();

    synchronized void add(Runnable upload) {
        ofThisBatch.add(CompletableFuture.runAsync(upload, threads));
    }

    /** Waits for what was added before the last call. */
    void commit() {
        List<CompletableFuture<Void>> before;
        synchronized (this) {
            before = ofLastBatch;
            ofLastBatch = ofThisBatch;
            ofThisBatch = new ArrayList<>();
        }
        before.forEach(CompletableFuture::join);
    }
}
