package io.afterbay.flink.incremental;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Threads behind tasks. They are daemons, and end when they have nothing to do.
 *
 * <p>Nothing here runs in the common pool: what waits there for checkpoint storage would hold up
 * what a task waits for, as the deletion of its local files.
 */
final class BackgroundThreads {
    private static final long IDLE_SECONDS_MAX = 2;
    private static final AtomicInteger THREADS = new AtomicInteger();

    /** Hands work over, and has no queue. */
    private static final ThreadPoolExecutor UNAWAITED =
            executor(0, Integer.MAX_VALUE, new SynchronousQueue<>(), "afterbay-unawaited-");

    private BackgroundThreads() {}

    /**
     * Runs what may wait for checkpoint storage without a bound, and what nobody waits for: never
     * behind something else.
     */
    static void runUnawaited(Runnable work) {
        UNAWAITED.execute(work);
    }

    /**
     * An executor that runs so much at a time; what comes then waits for its turn.
     *
     * @param name what names of threads begin with
     */
    static ThreadPoolExecutor executor(int threads, String name) {
        ThreadPoolExecutor executor = executor(threads, threads, new LinkedBlockingQueue<>(), name);
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    private static ThreadPoolExecutor executor(
            int threads, int threadsMax, BlockingQueue<Runnable> queue, String name) {
        return new ThreadPoolExecutor(
                threads,
                threadsMax,
                IDLE_SECONDS_MAX,
                TimeUnit.SECONDS,
                queue,
                work -> thread(work, name));
    }

    private static Thread thread(Runnable work, String name) {
        Thread thread = new Thread(work, name + THREADS.incrementAndGet());
        thread.setDaemon(true);
        // It may serve other jobs than the one whose task happened to start it.
        thread.setContextClassLoader(BackgroundThreads.class.getClassLoader());
        return thread;
    }
}
