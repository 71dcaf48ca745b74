package io.afterbay.cli.measure;

import io.afterbay.bench.Timeline;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * What happens at a given rate, from the end of the ramp-up on: latencies of results, and events
 * that enter the job. One thread writes each; figures are read after the job has ended.
 */
public final class OpenLoopMeter extends RowMeter {
    /** Width of the windows of the timeline. */
    public static final int WINDOW_MS = 50;

    private static final int SIGNIFICANT_DIGITS = 3;
    private static final double[] PERCENTS = {
        1, 5, 10, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.9, 99.95, 99.99
    };

    private final long rampUpEvents;
    private final Histogram latencyMicros = new Histogram(SIGNIFICANT_DIGITS);
    private final Windows eventsIn = new Windows();
    private final Windows worstMicros = new Windows();
    private volatile boolean started;
    private long startNanos;
    private long startEpochMillis;
    private long lastEvents;
    private long lastNanos;
    private long longestPauseNanos;

    public OpenLoopMeter(Phase phase) {
        this.rampUpEvents = phase.rampUpEvents();
    }

    @Override
    public void accepted(long events) {
        if (events < rampUpEvents || events == lastEvents) {
            return;
        }
        long now = System.nanoTime();
        if (started) {
            longestPauseNanos = Math.max(longestPauseNanos, now - lastNanos);
            eventsIn.add(windowOf(now), events - lastEvents);
        } else {
            startNanos = now;
            startEpochMillis = System.currentTimeMillis();
            started = true;
        }
        lastEvents = events;
        lastNanos = now;
    }

    @Override
    public void result(long micros) {
        if (started) {
            long latency = Math.max(0, micros);
            latencyMicros.recordValue(latency);
            worstMicros.raise(windowOf(System.nanoTime()), latency);
        }
    }

    private int windowOf(long nanos) {
        return (int) ((nanos - startNanos) / (WINDOW_MS * 1_000_000L));
    }

    public long startNanos() {
        return startNanos;
    }

    public long startEpochMillis() {
        return startEpochMillis;
    }

    /** The latency that so many percent do not exceed; null without results. */
    public @Nullable Double latencyMs(double percent) {
        return latencyMicros.getTotalCount() == 0
                ? null
                : latencyMicros.getValueAtPercentile(percent) / 1e3;
    }

    /** Null if no event came after the ramp-up. */
    public @Nullable Double longestPauseMs() {
        return longestPauseNanos == 0 ? null : longestPauseNanos / 1e6;
    }

    public List<Timeline.Percentile> percentiles() {
        return latencyMicros.getTotalCount() == 0
                ? List.of()
                : Arrays.stream(PERCENTS)
                        .mapToObj(
                                percent ->
                                        new Timeline.Percentile(
                                                percent,
                                                latencyMicros.getValueAtPercentile(percent) / 1e3))
                        .toList();
    }

    public List<Long> eventsPerWindow() {
        return IntStream.range(0, windows()).mapToLong(eventsIn::get).boxed().toList();
    }

    /** Null where a window had no result. */
    public List<@Nullable Double> worstMsPerWindow() {
        List<@Nullable Double> worst = new ArrayList<>();
        for (int window = 0; window < windows(); window++) {
            worst.add(worstMicros.has(window) ? worstMicros.get(window) / 1e3 : null);
        }
        return worst;
    }

    private int windows() {
        return Math.max(eventsIn.size(), worstMicros.size());
    }
}
