package io.afterbay.cli.profile;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Looks at the threads of tasks every few milliseconds, on a thread of its own: what CPU time they
 * have used, and whether they are in Java or in native code. It stops none of them.
 */
final class TaskClock implements AutoCloseable {
    private static final long INTERVAL_MILLIS = 20;

    /** How often to look which threads there are. */
    private static final int LOOKS_PER_SEARCH = 10;

    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private final ThreadMXBean threads =
            (ThreadMXBean) ManagementFactory.getPlatformMXBean(ThreadMXBean.class);
    private final Supplier<long[]> tasks;
    private final Map<Long, ThreadTrace> traces = new HashMap<>();
    private final ScheduledExecutorService thread =
            Executors.newSingleThreadScheduledExecutor(TaskClock::daemon);
    private long[] present = new long[0];
    private int looks;

    /**
     * @param tasks the ids of the threads of tasks that there are now
     */
    TaskClock(Supplier<long[]> tasks) {
        this.tasks = tasks;
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "clock of tasks");
        thread.setDaemon(true);
        return thread;
    }

    /** Once. */
    void start() {
        var unused =
                thread.scheduleAtFixedRate(this::look, 0, INTERVAL_MILLIS, TimeUnit.MILLISECONDS);
    }

    private synchronized void look() {
        if (looks++ % LOOKS_PER_SEARCH == 0) {
            present = tasks.get();
        }
        ThreadInfo[] states = threads.getThreadInfo(present); // without stacks: nobody stops
        long[] cpuNanos = threads.getThreadCpuTime(present);
        long now = nanos(Instant.now());
        for (int i = 0; i < present.length; i++) {
            if (states[i] != null && cpuNanos[i] >= 0) {
                traces.computeIfAbsent(present[i], id -> new ThreadTrace())
                        .look(
                                now,
                                cpuNanos[i],
                                states[i].getThreadState() == Thread.State.RUNNABLE,
                                states[i].isInNative());
            }
        }
    }

    /** Nanoseconds since 1970. */
    static long nanos(Instant instant) {
        return instant.getEpochSecond() * NANOS_PER_SECOND + instant.getNano();
    }

    /** By the id of the thread; after {@link #close}. */
    synchronized Map<Long, ThreadTrace> traces() {
        return traces;
    }

    @Override
    public void close() {
        thread.shutdown();
        try {
            var unused = thread.awaitTermination(1, TimeUnit.SECONDS); // one look at most
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
