package io.afterbay.stragglers;

/**
 * A mean in which what was observed one half-life ago counts half, and what was observed before a
 * silence counts no more than
 *
 * <pre>
 *   2 * (half-life / silence)²        observations, however many there were
 * </pre>
 *
 * So one new observation after a silence of some half-lives counts for nearly all. By halving alone
 * it would not, after many: of forty there are two and a half left behind four half-lives. Between
 * observations that come steadily, no silence is long enough for that.
 *
 * <p>Writers take turns; {@link #value} may be read by any thread.
 */
final class AgedMean {
    /**
     * As many observations count after a silence of one half-life. With fewer, single ones that are
     * far off decide; with more, a task that was slow for a moment is avoided for longer.
     */
    private static final double AT_A_LIFE = 2;

    /** The mean until something is known. */
    static final double UNKNOWN = -1;

    private final double halfLifeNanos;
    private volatile double value = UNKNOWN;
    private double sum;
    private double count;
    private long lastNanos;

    AgedMean(double halfLifeNanos, long now) {
        this.halfLifeNanos = halfLifeNanos;
        this.lastNanos = now;
    }

    /**
     * @param now may be older than that of an observation before: who waits for a turn has looked
     *     at the clock already
     */
    void observe(double observed, long now) {
        long silenceNanos = Math.max(0, now - lastNanos);
        double keep = kept(silenceNanos);
        sum = sum * keep + observed;
        count = count * keep + 1;
        value = sum / count;
        lastNanos += silenceNanos;
    }

    /** What is left of the weight of all that was observed. */
    private double kept(long silenceNanos) {
        double lives = halfLifeNanos / silenceNanos;
        return Math.min(aged(1, silenceNanos, halfLifeNanos), AT_A_LIFE * lives * lives / count);
    }

    /** Negative if nothing is known. */
    double value() {
        return value;
    }

    /** What is left of a value after some time. */
    static double aged(double value, long nanos, double halfLifeNanos) {
        return value * Math.pow(0.5, Math.max(0, nanos) / halfLifeNanos);
    }
}
