package io.afterbay.cli;

import io.afterbay.rocksdb.Desync;
import io.afterbay.rocksdb.DesyncMetrics;
import io.afterbay.workloads.trafficjam.TrafficJamStatistics;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;
import org.jspecify.annotations.Nullable;
import org.rocksdb.Env;

/**
 * What happens to each report of an open loop from the end of the ramp-up on: latencies, and a
 * timeline in the windows of the paper with processors and queue (ShadowSync, figures 3 and 6).
 * Tasks record; one thread of its own takes a window after the other; figures are read after {@link
 * #close}.
 */
final class DesyncMeter extends RowMeter implements AutoCloseable {
    static final int WINDOW_MS = 50;

    private static final int SIGNIFICANT_DIGITS = 3;
    private static final long CLOSE_SECONDS_MAX = 10;

    /**
     * A window that has ended.
     *
     * @param startMillis since 1970
     * @param worstMs null if no report arrived
     * @param busy share of the processors, 0 to 1
     * @param waiting reports that are due and not yet there
     */
    record Window(long startMillis, @Nullable Double worstMs, double busy, long waiting) {}

    private final long rampUpEvents;
    private final TrafficJamStatistics statistics;
    private final Recorder recorder = new Recorder(SIGNIFICANT_DIGITS);
    private final Histogram latencyMicros = new Histogram(SIGNIFICANT_DIGITS);
    private final List<Window> windows = new ArrayList<>();
    private final ScheduledExecutorService thread =
            Executors.newSingleThreadScheduledExecutor(DesyncMeter::daemon);
    private final long processors = Runtime.getRuntime().availableProcessors();
    private volatile boolean isStarted;
    private volatile long maxRankingMicros;
    private @Nullable DesyncMetrics counted;
    private @Nullable Histogram recycled;
    private @Nullable Moment first;
    private @Nullable Moment last;

    private record Moment(long millis, long nanos, long cpuNanos) {
        static Moment now() {
            return new Moment(
                    System.currentTimeMillis(), System.nanoTime(), ProcessFigures.cpuNanos());
        }

        double busySince(Moment other, long processors) {
            return (double) (cpuNanos - other.cpuNanos) / (nanos - other.nanos) / processors;
        }
    }

    DesyncMeter(Phase phase, TrafficJamStatistics statistics) {
        this.rampUpEvents = phase.rampUpEvents();
        this.statistics = statistics;
        var unused =
                thread.scheduleAtFixedRate(
                        this::sample, WINDOW_MS, WINDOW_MS, TimeUnit.MILLISECONDS);
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "timeline");
        thread.setDaemon(true);
        return thread;
    }

    @Override
    public void accepted(long events) {
        if (!isStarted && events >= rampUpEvents) {
            isStarted = true;
        }
    }

    @Override
    public void arrived(long micros) {
        if (isStarted) {
            recorder.recordValue(Math.max(0, micros));
        }
    }

    @Override
    public void result(long micros) {
        if (isStarted) {
            maxRankingMicros = Math.max(maxRankingMicros, micros);
        }
    }

    private void sample() {
        if (!isStarted) {
            return;
        }
        Moment now = Moment.now();
        countInstances();
        Moment before = last;
        last = now;
        if (before == null) {
            first = now;
            return;
        }
        Histogram window = recorder.getIntervalHistogram(recycled);
        recycled = window;
        latencyMicros.add(window);
        windows.add(
                new Window(
                        before.millis,
                        window.getTotalCount() == 0 ? null : window.getMaxValue() / 1e3,
                        Math.min(1, now.busySince(before, processors)),
                        statistics.waiting()));
    }

    /** They are gone when the job has ended. */
    private void countInstances() {
        DesyncMetrics now = Desync.metrics(Env.getDefault());
        counted = now == null ? counted : now;
    }

    /** What our listeners counted last; null without a cure of ours. */
    @Nullable DesyncMetrics counted() {
        return counted;
    }

    /** CPU time of the process as a share of the processors; null if it was too short. */
    @Nullable Double busy() {
        Moment from = first;
        Moment to = last;
        return from == null || to == null || to.nanos == from.nanos
                ? null
                : to.busySince(from, processors);
    }

    /** At the end of a window, the most. */
    long mostWaiting() {
        return windows.stream().mapToLong(Window::waiting).max().orElse(0);
    }

    /** The latency that so many percent of the reports do not exceed; null without reports. */
    @Nullable Double latencyMs(double percent) {
        return latencyMicros.getTotalCount() == 0
                ? null
                : latencyMicros.getValueAtPercentile(percent) / 1e3;
    }

    /** Null without rankings. */
    @Nullable Double maxRankingMs() {
        return maxRankingMicros == 0 ? null : maxRankingMicros / 1e3;
    }

    List<Window> windows() {
        return windows;
    }

    /** Ends the last window. */
    @Override
    public void close() {
        thread.shutdown();
        try {
            var unused = thread.awaitTermination(CLOSE_SECONDS_MAX, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
