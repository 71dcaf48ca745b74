package io.afterbay.maintenance;

import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Tasks of seconds or minutes, such as writing all state of an instance: so many of a process at a
 * time. There is no queue: who finds no place asks again later, by when the content of its task may
 * be another one. So instances whose tasks become due together do not run them together
 * (ShadowSync, Middleware 2022, section 4). Thread-safe.
 */
public final class LongTasks {
    private static final long IDLE_SECONDS_MAX = 2;
    private static final AtomicInteger THREADS = new AtomicInteger();

    private static final LongTasks OF_PROCESS =
            new LongTasks(Math.max(1, Runtime.getRuntime().availableProcessors() / 2), threads());

    private final Semaphore free;
    private final Executor executor;

    /**
     * @param executor begins tasks at once, as many as there are places
     */
    public LongTasks(int places, Executor executor) {
        this.free = new Semaphore(places);
        this.executor = executor;
    }

    /** Those of this process: one for two processors, in threads of their own. */
    public static LongTasks ofProcess() {
        return OF_PROCESS;
    }

    private static Executor threads() {
        return new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE, // the places are the bound
                IDLE_SECONDS_MAX,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                LongTasks::thread);
    }

    private static Thread thread(Runnable work) {
        Thread thread = new Thread(work, "afterbay-maintenance-long-" + THREADS.incrementAndGet());
        thread.setDaemon(true);
        return thread;
    }

    /** Takes a place, for {@link #run} or {@link #leave}; false if there is none. */
    public boolean tryEnter() {
        return free.tryAcquire();
    }

    /** Runs a task in the place that was taken, and gives the place back when it has ended. */
    public void run(Runnable task) {
        executor.execute(
                () -> {
                    try {
                        task.run();
                    } finally {
                        leave();
                    }
                });
    }

    /** Gives a place back that was taken. */
    public void leave() {
        free.release();
    }
}
