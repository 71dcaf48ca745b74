package io.afterbay.flink;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Threads that read from local files for all stores of this process that are configured alike. They
 * end when they are idle, and take no work when they are busy: who asks then reads alone.
 */
final class ReadThreads {
    private static final long IDLE_SECONDS = 10;
    private static final Map<Integer, Executor> BY_NUMBER = new ConcurrentHashMap<>();
    private static final AtomicInteger STARTED = new AtomicInteger();

    private ReadThreads() {}

    /** Null for none. */
    static @Nullable Executor of(int threads) {
        return threads == 0 ? null : BY_NUMBER.computeIfAbsent(threads, ReadThreads::atMost);
    }

    private static Executor atMost(int threads) {
        return new ThreadPoolExecutor(
                0,
                threads,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                ReadThreads::thread);
    }

    /** Not of the class loader of the job that happens to be first. */
    private static Thread thread(Runnable task) {
        String name = "afterbay-read-" + STARTED.incrementAndGet();
        Thread thread = new Thread(null, task, name, 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(ReadThreads.class.getClassLoader());
        return thread;
    }
}
