package io.afterbay.stragglers;

import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;

/**
 * After which time a tuple is late: a percentile of the latencies of the period before, a low one
 * if their tail is long (the paper, section 3.1, algorithm 1).
 *
 * <pre>
 *   p99   &gt; 2 * p90    p90
 *   p99.9 &gt; 2 * p95    p95
 *   else               p99.9
 * </pre>
 *
 * <p>The 90th percentile of a long tail makes a tenth of the tuples late. If only some of them may
 * be replayed, those that are a little late use that up before those that are very late come. So
 * there can be a share of the tuples that may be late, that of the {@link ReplayBudget}: the
 * timeout is at least the percentile beyond which this share lies.
 *
 * <p>The paper does not say what holds before there are latencies, or with few of them. Here
 * nothing is late until a first period has ended, and a period with fewer than {@value
 * #SAMPLES_MIN} goes on until it has them: the 99th percentile of fewer is the largest. Percentiles
 * are exact to 1 %.
 *
 * <p>Latencies of replayed tuples are those that the replay has made shorter, as in the paper. So
 * replays that work raise the timeout, and a tail that is back lowers it.
 *
 * <p>Safe for use by any thread.
 */
public final class AdaptiveTimeout {
    /** The timeout before the first period has ended: no tuple is late. */
    public static final long NONE = Long.MAX_VALUE;

    static final long PERIOD_NANOS = 1_000_000_000L;
    static final int SAMPLES_MIN = 100;

    private static final long LATENCY_NANOS_MIN = 1_000;
    private static final long LATENCY_NANOS_MAX = 3_600_000_000_000L;
    private static final int DIGITS = 2;

    private final LongSupplier nanoClock;
    private final double percentileMin;
    private final Histogram latencies = new Histogram(LATENCY_NANOS_MIN, LATENCY_NANOS_MAX, DIGITS);
    private long periodStart;
    private long timeoutNanos = NONE;

    /**
     * Algorithm 1 as printed.
     *
     * @param nanoClock nanoseconds since any moment
     */
    public AdaptiveTimeout(LongSupplier nanoClock) {
        this(nanoClock, 1);
    }

    /**
     * @param nanoClock nanoseconds since any moment
     * @param lateShareMax the share of the tuples that may be late, from 0 to 1
     */
    public AdaptiveTimeout(LongSupplier nanoClock, double lateShareMax) {
        if (!(lateShareMax >= 0 && lateShareMax <= 1)) {
            throw new IllegalArgumentException(
                    "the share of late tuples must be within 0..1, not " + lateShareMax);
        }
        this.nanoClock = nanoClock;
        this.percentileMin = 100 * (1 - lateShareMax);
        this.periodStart = nanoClock.getAsLong();
    }

    /**
     * A tuple has finished.
     *
     * @param latencyNanos from its first emission to the end of its fastest incarnation; counts as
     *     1 hour if it is longer, and as 0 if it is negative
     */
    public synchronized void record(long latencyNanos) {
        adjustIfDue();
        latencies.recordValue(Math.max(0, Math.min(latencyNanos, LATENCY_NANOS_MAX)));
    }

    /** The age from which a tuple is late, or {@link #NONE}. */
    public synchronized long timeoutNanos() {
        adjustIfDue();
        return timeoutNanos;
    }

    private void adjustIfDue() {
        long now = nanoClock.getAsLong();
        long elapsed = now - periodStart;
        if (elapsed < 0) {
            periodStart = now;
        } else if (elapsed >= PERIOD_NANOS && latencies.getTotalCount() >= SAMPLES_MIN) {
            timeoutNanos =
                    Math.max(asPrinted(latencies), latencies.getValueAtPercentile(percentileMin));
            latencies.reset();
            periodStart = now;
        }
    }

    private static long asPrinted(Histogram latencies) {
        long p90 = latencies.getValueAtPercentile(90);
        if (latencies.getValueAtPercentile(99) > 2 * p90) {
            return p90;
        }
        long p95 = latencies.getValueAtPercentile(95);
        long p999 = latencies.getValueAtPercentile(99.9);
        return p999 > 2 * p95 ? p95 : p999;
    }
}
