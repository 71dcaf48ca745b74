package io.afterbay.storm.workloads;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * The rule by which Storm 3 can send ("JitterAwareStreamGrouping"), as a baseline: of two random
 * tasks the one with less jitter. Jitter is that of RFC 1889, of the time that a task takes:
 *
 * <pre>
 *   jitter += (|time - time before| - jitter) / 16
 * </pre>
 *
 * Senders hear of it every 10 s. Safe for use by any thread.
 */
final class JitterRule {
    static final long PERIOD_NANOS = 10_000_000_000L;

    /** There is no winner. */
    static final int TIE = -1;

    private static final double SMOOTHING = 1.0 / 16;

    private final LongSupplier nanoClock;
    private volatile Map<Integer, Double> told = Map.of();

    // What follows is guarded by this.
    private final Map<Integer, Jitter> jitters = new ConcurrentHashMap<>();
    private long periodStart;

    private static final class Jitter {
        private long lastNanos = -1;
        private double value;

        private void add(long nanos) {
            if (lastNanos >= 0) {
                value += (Math.abs(nanos - lastNanos) - value) * SMOOTHING;
            }
            lastNanos = nanos;
        }
    }

    /**
     * @param nanoClock nanoseconds since any moment
     */
    JitterRule(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
        this.periodStart = nanoClock.getAsLong();
    }

    /** A task took so long for a tuple. */
    synchronized void executed(int task, long nanos) {
        jitters.computeIfAbsent(task, any -> new Jitter()).add(nanos);
        long now = nanoClock.getAsLong();
        if (now - periodStart >= PERIOD_NANOS) {
            periodStart = now;
            Map<Integer, Double> next = new ConcurrentHashMap<>();
            jitters.forEach((id, jitter) -> next.put(id, jitter.value));
            told = next;
        }
    }

    /** The one with less jitter; one of which nothing was told has the most. */
    int better(int a, int b) {
        Map<Integer, Double> known = told;
        int order =
                Double.compare(
                        known.getOrDefault(a, Double.MAX_VALUE),
                        known.getOrDefault(b, Double.MAX_VALUE));
        if (order == 0) {
            return TIE;
        }
        return order < 0 ? a : b;
    }
}
