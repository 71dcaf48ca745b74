package io.afterbay.stragglers;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Who of some is next, by weights: by turns, and not drawn at random, so that in any row of turns,
 * however short, each has about what its weight says. An operator's task that gets its tuples so
 * has shorter queues than by chance.
 *
 * <p>Turns are the multiples of the golden ratio without what is before the point, the sequence of
 * one constant that fills the interval from 0 to 1 most evenly (Knuth, "The Art of Computer
 * Programming", volume 3, section 6.4, theorem S).
 *
 * <p>All methods are safe for use by any thread. {@link #next} allocates nothing.
 */
public final class WeightedTurns {
    /** The golden ratio without its 1, of 2^64. */
    private static final long STEP = 0x9e3779b97f4a7c15L;

    private final AtomicLong turn;

    /** For each, the part of all weights that it and those before it have; the last one is 1. */
    private volatile double[] upTo = {1};

    /**
     * One, until {@link #setWeights}.
     *
     * @param first where to begin, as any random number: else all begin with the same turns
     */
    public WeightedTurns(long first) {
        turn = new AtomicLong(first);
    }

    /**
     * From now on, there are as many as weights.
     *
     * @throws IllegalArgumentException if one is negative or no number, or none is above 0
     */
    public void setWeights(double... weights) {
        double[] sums = new double[weights.length];
        double sum = 0;
        for (int i = 0; i < weights.length; i++) {
            if (!(weights[i] >= 0)) {
                throw new IllegalArgumentException("a weight must not be " + weights[i]);
            }
            sum += weights[i];
            sums[i] = sum;
        }
        if (!(sum > 0) || Double.isInfinite(sum)) {
            throw new IllegalArgumentException("the sum of weights must not be " + sum);
        }
        for (int i = 0; i < sums.length; i++) {
            sums[i] /= sum;
        }
        upTo = sums;
    }

    /** Whose turn it is, counted from 0. */
    public int next() {
        double at = (turn.getAndAdd(STEP) >>> 11) * 0x1p-53;
        double[] sums = upTo;
        int i = 0;
        while (sums[i] <= at) {
            i++;
        }
        return i;
    }
}
