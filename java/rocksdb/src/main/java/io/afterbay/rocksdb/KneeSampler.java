package io.afterbay.rocksdb;

import io.afterbay.maintenance.ConcurrencyKnee;
import io.afterbay.maintenance.ConcurrencyKnee.Verdict;
import java.util.function.IntSupplier;

/**
 * Looks for the number of compactions at once beyond which latency rises. It is never one, which is
 * the end of a curve and no knee: the paper's single thread could not keep up, and latency rose to
 * minutes, which windows of 50 ms do not show.
 *
 * <p>No clock and no thread inside. Not safe for use by several threads.
 */
final class KneeSampler {
    static final long PERIOD_NANOS = 10_000_000;
    static final long RECOMMENDS_EVERY_NANOS = 10_000_000_000L;

    private final ConcurrencyKnee knee = new ConcurrencyKnee();
    private final LatencySource latency;
    private final IntSupplier compactions;
    private boolean hasBegun;
    private long recommendedNanos;
    private int threads;

    /**
     * @param compactions at work now
     */
    KneeSampler(LatencySource latency, IntSupplier compactions) {
        this.latency = latency;
        this.compactions = compactions;
    }

    /** Looks once; the knee as it was found last, or 0 if there is none. */
    int sample(long nowNanos) {
        knee.sample(nowNanos, compactions.getAsInt(), latency.longestNanos());
        if (!hasBegun) {
            hasBegun = true;
            recommendedNanos = nowNanos;
        }
        if (nowNanos - recommendedNanos >= RECOMMENDS_EVERY_NANOS) {
            recommendedNanos = nowNanos;
            ConcurrencyKnee.Recommendation found = knee.recommend();
            threads = found.verdict() == Verdict.KNEE ? found.limit() : 0;
        }
        return threads;
    }
}
