package io.afterbay.workloads.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;
import org.jspecify.annotations.Nullable;

/**
 * Latencies, and a timeline of them with processors and queue in windows of 50 ms (ShadowSync,
 * figures 3 and 6). Any thread may record; one thread of its own takes a window after the other;
 * figures are read after {@link #close}. Nothing counts before {@link #start}.
 */
public final class LatencyTimeline implements AutoCloseable {
    public static final int WINDOW_MS = 50;

    private static final int SIGNIFICANT_DIGITS = 3;
    private static final long CLOSE_SECONDS_MAX = 10;
    private static final String HEADER = "time_ms,latency_ms,cpu,queue";

    /**
     * A window that has ended.
     *
     * @param startMillis since 1970
     * @param worstMs null if nothing arrived
     * @param busy share of the processors, 0 to 1
     * @param waiting events that are due and not yet there
     */
    private record Window(long startMillis, @Nullable Double worstMs, double busy, long waiting) {
        private String line() {
            return String.format(
                    Locale.ROOT, "%d,%.3f,%.2f,%d", startMillis, worstMs, busy, waiting);
        }
    }

    private record Moment(long millis, long nanos, long cpuNanos) {
        double busySince(Moment other, long processors) {
            return (double) (cpuNanos - other.cpuNanos) / (nanos - other.nanos) / processors;
        }
    }

    private final LongSupplier cpuNanos;
    private final LongSupplier waiting;
    private final Recorder recorder = new Recorder(SIGNIFICANT_DIGITS);
    private final Histogram latencyMicros = new Histogram(SIGNIFICANT_DIGITS);
    private final List<Window> windows = new ArrayList<>();
    private final ScheduledExecutorService thread =
            Executors.newSingleThreadScheduledExecutor(LatencyTimeline::daemon);
    private final long processors = Runtime.getRuntime().availableProcessors();
    private volatile boolean isStarted;
    private @Nullable Histogram recycled;
    private @Nullable Moment first;
    private @Nullable Moment last;

    /**
     * @param cpuNanos processor time so far of all that is measured; asked in each window
     * @param waiting events that are due and not yet there; asked in each window
     */
    public LatencyTimeline(LongSupplier cpuNanos, LongSupplier waiting) {
        this.cpuNanos = cpuNanos;
        this.waiting = waiting;
        var unused =
                thread.scheduleAtFixedRate(
                        this::sample, WINDOW_MS, WINDOW_MS, TimeUnit.MILLISECONDS);
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "timeline");
        thread.setDaemon(true);
        return thread;
    }

    /** From now on, all counts. */
    public void start() {
        isStarted = true;
    }

    /** An event is there, so long after it was due. */
    public void arrived(long micros) {
        if (isStarted) {
            recorder.recordValue(Math.max(0, micros));
        }
    }

    private void sample() {
        if (!isStarted) {
            return;
        }
        Moment now =
                new Moment(System.currentTimeMillis(), System.nanoTime(), cpuNanos.getAsLong());
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
                        waiting.getAsLong()));
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

    /** Processor time as a share of the processors; null if it was too short. */
    public @Nullable Double busy() {
        Moment from = first;
        Moment to = last;
        return from == null || to == null || to.nanos == from.nanos
                ? null
                : to.busySince(from, processors);
    }

    /** Events that arrived; 0 if it was too short. */
    public double arrivedPerS() {
        Moment from = first;
        Moment to = last;
        return from == null || to == null || to.nanos == from.nanos
                ? 0
                : latencyMicros.getTotalCount() * 1e9 / (to.nanos - from.nanos);
    }

    /** At the end of a window, the most. */
    public long mostWaiting() {
        return windows.stream().mapToLong(Window::waiting).max().orElse(0);
    }

    /** The latency that so many percent of the events do not exceed; null without events. */
    public @Nullable Double latencyMs(double percent) {
        return latencyMicros.getTotalCount() == 0
                ? null
                : latencyMicros.getValueAtPercentile(percent) / 1e3;
    }

    /**
     * Writes the windows in which something arrived, as {@code afterbay doctor --latency} reads
     * them.
     *
     * @return how many they are
     */
    public int write(Path csv) throws IOException {
        List<String> lines =
                windows.stream()
                        .filter(window -> window.worstMs() != null)
                        .map(Window::line)
                        .toList();
        Files.write(csv, Stream.concat(Stream.of(HEADER), lines.stream()).toList());
        return lines.size();
    }
}
