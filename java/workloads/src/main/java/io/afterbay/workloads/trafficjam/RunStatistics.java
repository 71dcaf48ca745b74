package io.afterbay.workloads.trafficjam;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * What a run has done so far, for whoever watches it from within the same process. Operators find
 * the object by the run's name; on a cluster nobody else looks at it, and Flink's metrics serve
 * instead. Thread safe.
 */
public final class RunStatistics {
    private static final ConcurrentMap<String, RunStatistics> RUNS = new ConcurrentHashMap<>();

    private static final int SIGNIFICANT_DIGITS = 3;

    private final ConcurrentHistogram latencyMicros = new ConcurrentHistogram(SIGNIFICANT_DIGITS);
    private final ConcurrentHistogram delayMicros = new ConcurrentHistogram(SIGNIFICANT_DIGITS);
    private volatile Runnable firstEventListener = () -> {};
    private volatile long accepted;
    private volatile long late;
    private volatile long malformed;
    private volatile long firstEventNanos;
    private volatile long firstEventCpuNanos;
    private volatile long lastResultNanos;
    private volatile long lastResultCpuNanos;
    private volatile List<RankingRow> lastRanking = List.of();

    private RunStatistics() {}

    public static RunStatistics of(String run) {
        return RUNS.computeIfAbsent(run, ignored -> new RunStatistics());
    }

    /** Ends the sharing; operators that still hold the object do no harm. */
    public static void forget(String run) {
        RUNS.remove(run);
    }

    /** Reports that went into the job; after a restart, those up to the checkpoint count once. */
    public long accepted() {
        return accepted;
    }

    public long late() {
        return late;
    }

    public long malformed() {
        return malformed;
    }

    /** {@link System#nanoTime} of the first report, or 0 before it. */
    public long firstEventNanos() {
        return firstEventNanos;
    }

    /** CPU time of the process at the first report. */
    public long firstEventCpuNanos() {
        return firstEventCpuNanos;
    }

    /** CPU time of the process at the last ranking. */
    public long lastResultCpuNanos() {
        return lastResultCpuNanos;
    }

    /** {@link System#nanoTime} of the last ranking, or 0 before the first. */
    public long lastResultNanos() {
        return lastResultNanos;
    }

    public List<RankingRow> lastRanking() {
        return lastRanking;
    }

    /** A copy of the latencies so far, in microseconds, see {@link LatencyMeter}. */
    public Histogram latencyMicros() {
        return latencyMicros.copy();
    }

    /** A copy of the delays so far, in microseconds, see {@link LatencyMeter}. */
    public Histogram delayMicros() {
        return delayMicros.copy();
    }

    /** Calls this once, on the reader's thread, when the first report enters the job. */
    public void onFirstEvent(Runnable listener) {
        firstEventListener = listener;
    }

    void counts(TraceProgress progress) {
        if (firstEventNanos == 0) {
            firstEventListener.run();
            firstEventCpuNanos = cpuNanos();
            firstEventNanos = System.nanoTime();
        }
        accepted = progress.accepted();
        late = progress.late();
        malformed = progress.malformed();
    }

    void ranking(List<RankingRow> rows, long latency) {
        lastRanking = List.copyOf(rows);
        lastResultCpuNanos = cpuNanos();
        lastResultNanos = System.nanoTime();
        latencyMicros.recordValue(Math.max(0, latency));
    }

    void delay(long micros) {
        delayMicros.recordValue(micros);
    }

    private static long cpuNanos() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
    }
}
