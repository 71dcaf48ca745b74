package io.afterbay.spark.publish;

import java.util.Arrays;

/**
 * Which writes are begun a second time, because one piece of them takes unusually long: when a
 * write has been silent for half as long again as nine of ten others ever were (hedged requests;
 * Dean and Barroso, The Tail at Scale, CACM 2013). Silence does not depend on the size of a file.
 *
 * <p>A share of all writes at most is hedged, so that a storage that is slow altogether, or a
 * processor that is busy, does not get twice the work. Guarded by the lock of its {@link
 * Publisher}.
 */
final class Hedging {
    private static final int RECENT_MAX = 64;

    /** Of fewer writes, nobody knows what is usual. */
    private static final int RECENT_MIN = 16;

    private static final double QUANTILE = 0.9;
    private static final double USUAL = 1.5;

    /** Below that, nothing is won. */
    private static final long SILENCE_NANOS_MIN = 20_000_000;

    /** Hedges that a calm time saves up for a bad one. */
    private static final double SAVED_MAX = 8;

    private static final double PERCENT = 100;

    private final double earned;
    private final long[] recent = new long[RECENT_MAX];
    private long writes;
    private long unusual = Long.MAX_VALUE;
    private double saved;

    /**
     * @param percentMax of all writes that may be hedged; 0 for none
     */
    Hedging(int percentMax) {
        this.earned = percentMax / PERCENT;
    }

    boolean isOn() {
        return earned > 0;
    }

    /** A write has succeeded that was silent for so long at most. */
    void written(long silenceNanos) {
        recent[(int) (writes++ % RECENT_MAX)] = silenceNanos;
        saved = Math.min(SAVED_MAX, saved + earned);
        if (isOn() && writes >= RECENT_MIN) {
            long[] sorted = Arrays.copyOf(recent, (int) Math.min(writes, RECENT_MAX));
            Arrays.sort(sorted);
            long usual = sorted[(int) (QUANTILE * (sorted.length - 1))];
            unusual = Math.max(SILENCE_NANOS_MIN, (long) (USUAL * usual));
        }
    }

    /** A write that is silent for longer is begun again; {@link Long#MAX_VALUE} for none now. */
    long silenceNanosMax() {
        return saved < 1 ? Long.MAX_VALUE : unusual;
    }

    /** A write was begun again. */
    void spend() {
        saved--;
    }
}
