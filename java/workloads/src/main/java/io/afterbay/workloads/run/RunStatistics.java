package io.afterbay.workloads.run;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * What a run has done so far, for whoever watches it from within the same process. The jobs extend
 * it with figures of their own and keep the objects by the run's name; on a cluster nobody else
 * looks at them, and Flink's metrics serve instead. Thread safe, with one thread that counts
 * events.
 */
public abstract class RunStatistics {
    private static final int SIGNIFICANT_DIGITS = 3;

    private final ConcurrentHistogram latencyMicros = new ConcurrentHistogram(SIGNIFICANT_DIGITS);
    private final ConcurrentHistogram delayMicros = new ConcurrentHistogram(SIGNIFICANT_DIGITS);
    private volatile Runnable firstEventListener = () -> {};
    private volatile RunObserver observer = RunObserver.NONE;
    private volatile long accepted;
    private volatile long firstEventNanos;
    private volatile long firstEventCpuNanos;
    private volatile long lastResultNanos;
    private volatile long lastResultCpuNanos;

    /** Events that went into the job; after a restart, those up to the checkpoint count once. */
    public final long accepted() {
        return accepted;
    }

    /** {@link System#nanoTime} of the first event, or 0 before it. */
    public final long firstEventNanos() {
        return firstEventNanos;
    }

    /** CPU time of the process at the first event. */
    public final long firstEventCpuNanos() {
        return firstEventCpuNanos;
    }

    /** CPU time of the process at the last result. */
    public final long lastResultCpuNanos() {
        return lastResultCpuNanos;
    }

    /** {@link System#nanoTime} of the last result, or 0 before the first. */
    public final long lastResultNanos() {
        return lastResultNanos;
    }

    /** A copy of the latencies so far, in microseconds; each job says what it counts from. */
    public final Histogram latencyMicros() {
        return latencyMicros.copy();
    }

    /** A copy of the delays so far, in microseconds; empty where latency says it all. */
    public final Histogram delayMicros() {
        return delayMicros.copy();
    }

    /** Calls this once, on the source's thread, when the first event enters the job. */
    public final void onFirstEvent(Runnable listener) {
        firstEventListener = listener;
    }

    /** From now on, tells this observer all that happens. */
    public final void observe(RunObserver newObserver) {
        observer = newObserver;
    }

    protected final RunObserver observer() {
        return observer;
    }

    /** Sets how many events went into the job; the first call starts the clock. */
    protected final void accepted(long events) {
        if (firstEventNanos == 0) {
            firstEventListener.run();
            firstEventCpuNanos = cpuNanos();
            firstEventNanos = System.nanoTime();
        }
        accepted = events;
        observer.accepted(events);
    }

    /** Marks the time of the last result so far, which is the end if no other follows. */
    protected final void resultNow() {
        lastResultCpuNanos = cpuNanos();
        lastResultNanos = System.nanoTime();
        observer.ended();
    }

    protected final void latency(long micros) {
        latencyMicros.recordValue(Math.max(0, micros));
    }

    protected final void delayOf(long micros) {
        delayMicros.recordValue(micros);
    }

    private static long cpuNanos() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
    }
}
