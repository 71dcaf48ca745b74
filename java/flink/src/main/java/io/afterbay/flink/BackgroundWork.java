package io.afterbay.flink;

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The threads that write and compact local files for all stores of this process. They start with
 * the first backend and end with the last, so that a class loader of a job that is gone is not
 * kept.
 *
 * <p>The queue needs no bound of its own: each store bounds what it has under way.
 */
final class BackgroundWork {
    private static final AtomicInteger THREADS = new AtomicInteger();
    private static @Nullable ExecutorService executor;
    private static int leases;

    private BackgroundWork() {}

    /** A backend's share of the threads; close it when its store is closed. */
    record Lease(Executor executor, AtomicBoolean returned) implements AutoCloseable {
        @Override
        public void close() {
            if (returned.compareAndSet(false, true)) {
                release();
            }
        }
    }

    static synchronized Lease acquire(int threads) {
        ExecutorService shared = executor;
        if (shared == null) {
            shared = start(threads);
            executor = shared;
        }
        leases++;
        return new Lease(shared, new AtomicBoolean());
    }

    private static ExecutorService start(int threads) {
        return new ThreadPoolExecutor(
                threads,
                threads,
                0,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                task -> {
                    Thread thread = new Thread(task, "afterbay-files-" + THREADS.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
    }

    private static synchronized void release() {
        leases--;
        if (leases == 0 && executor != null) {
            executor.shutdown();
            executor = null;
        }
    }
}
