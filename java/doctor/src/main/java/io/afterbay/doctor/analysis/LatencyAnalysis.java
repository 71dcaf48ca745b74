package io.afterbay.doctor.analysis;

import io.afterbay.doctor.reading.LatencyLog;
import io.afterbay.maintenance.ConcurrencyKnee;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Latency beside the compactions and flushes that ran in the same windows. */
final class LatencyAnalysis {
    /** Windows that are little longer than the paper's 50 ms still tell one level from another. */
    private static final long MAX_KNEE_WINDOW_MICROS = 2 * ConcurrencyKnee.WINDOW_NANOS / 1000;

    private static final double CALM = 2;

    private final LatencyLog log;
    private final long windowMicros;
    private final int[] windows;
    private final Steps compactions;
    private final Steps instances;
    private final Optional<Steps> pauses;

    private LatencyAnalysis(
            LatencyLog log,
            Optional<Steps> pauses,
            Steps compactions,
            Steps instances,
            long from,
            long to) {
        this.log = log;
        this.pauses = pauses;
        this.windowMicros = log.windowMicros();
        this.windows =
                IntStream.range(0, log.size())
                        .filter(window -> log.start(window) >= from && log.start(window) < to)
                        .toArray();
        this.compactions = compactions;
        this.instances = instances;
    }

    /** Empty if no window lies between the times, those of the first and the last event. */
    static Optional<LatencyEffect> of(
            LatencyLog log,
            Optional<Steps> pauses,
            Steps compactions,
            Steps instances,
            Bursts bursts,
            long from,
            long to) {
        LatencyAnalysis analysis =
                new LatencyAnalysis(log, pauses, compactions, instances, from, to);
        return analysis.windows.length == 0
                ? Optional.empty()
                : Optional.of(analysis.effect(bursts));
    }

    private LatencyEffect effect(Bursts bursts) {
        double[] all = sorted(Arrays.stream(windows).mapToDouble(log::millis));
        double median = Sorted.percentile(all, 0.5);
        return new LatencyEffect(
                windows.length,
                windowMicros,
                median,
                Sorted.percentile(all, 1),
                p99(true),
                p99(false),
                bursts.exist() ? settle(bursts, CALM * median) : 0,
                slow(CALM * median),
                threads());
    }

    private static double[] sorted(DoubleStream values) {
        return values.sorted().toArray();
    }

    private @Nullable Double p99(boolean isTogether) {
        double[] latencies =
                sorted(
                        Arrays.stream(windows)
                                .filter(window -> isTogether(window) == isTogether)
                                .mapToDouble(log::millis));
        return latencies.length == 0 ? null : Sorted.percentile(latencies, 0.99);
    }

    private boolean isTogether(int window) {
        long start = log.start(window);
        return instances.mostIn(start, start + windowMicros) >= 2;
    }

    private SlowWindows slow(double limitMs) {
        int[] slow =
                Arrays.stream(windows).filter(window -> log.millis(window) > limitMs).toArray();
        return new SlowWindows(
                limitMs,
                slow.length,
                (int) Arrays.stream(slow).filter(this::waitsForSeveral).count(),
                (int) Arrays.stream(slow).filter(this::isGcPause).count());
    }

    private boolean waitsForSeveral(int window) {
        return instances.mostIn(begin(log, window), end(log, window)) >= 2;
    }

    private boolean isGcPause(int window) {
        return pauses.map(steps -> steps.timeAtLeast(1, begin(log, window), end(log, window)))
                .filter(micros -> micros > 0 && 2 * micros >= log.millis(window) * 1000)
                .isPresent();
    }

    /**
     * When the event with the latency of a window may have begun to wait. Some logs have events in
     * the window in which they came, some in that in which they were done; it may be either.
     */
    static long begin(LatencyLog log, int window) {
        return log.start(window) - Math.round(log.millis(window) * 1000);
    }

    /** When it may have been done. */
    static long end(LatencyLog log, int window) {
        return log.start(window) + log.windowMicros() + Math.round(log.millis(window) * 1000);
    }

    private long settle(Bursts bursts, double calmMs) {
        long[] times = new long[bursts.size()];
        int size = 0;
        for (int burst = 0; burst < bursts.size(); burst++) {
            long next =
                    burst + 1 < bursts.size()
                            ? bursts.start(burst + 1)
                            : bursts.end(burst) + bursts.periodMicros();
            if (next <= log.start(log.size() - 1) && bursts.end(burst) >= log.start(0)) {
                times[size++] = settle(bursts.end(burst), next, calmMs);
            }
        }
        long[] sorted = Arrays.copyOf(times, size);
        Arrays.sort(sorted);
        return Sorted.percentile(sorted, 0.9);
    }

    /** From the end of a burst to the first calm window, or to the next burst. */
    private long settle(long end, long next, double calmMs) {
        int window = log.windowAt(end);
        while (window < log.size() && log.start(window) < next && log.millis(window) > calmMs) {
            window++;
        }
        long settled = window < log.size() ? Math.min(log.start(window), next) : next;
        return Math.max(0, settled - end);
    }

    private ConcurrencyKnee.Recommendation threads() {
        ConcurrencyKnee knee = new ConcurrencyKnee();
        if (windowMicros <= MAX_KNEE_WINDOW_MICROS) {
            for (int i = 0; i < windows.length; i++) {
                long start = log.start(windows[i]);
                // Windows are counted rather than timed: a log may have gaps, or 49 ms.
                knee.sample(
                        i * ConcurrencyKnee.WINDOW_NANOS,
                        compactions.mostIn(start, start + windowMicros),
                        Math.round(log.millis(windows[i]) * 1e6));
            }
        }
        return knee.recommend();
    }

    /** The window with the worst latency from one time to another, the latter excluded, or -1. */
    static int worst(LatencyLog log, long from, long to) {
        int worst = -1;
        for (int window = log.windowAt(from);
                window < log.size() && log.start(window) < to;
                window++) {
            worst = worst < 0 || log.millis(window) > log.millis(worst) ? window : worst;
        }
        return worst;
    }
}
