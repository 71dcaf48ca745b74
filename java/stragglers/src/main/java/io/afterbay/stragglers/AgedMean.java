package io.afterbay.stragglers;

/**
 * A mean in which what was observed one half-life ago counts half. So one new observation after a
 * long silence counts for nearly all. Writers take turns; {@link #value} may be read by any thread.
 */
final class AgedMean {
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

    void observe(double observed, long now) {
        double keep = aged(1, now - lastNanos, halfLifeNanos);
        sum = sum * keep + observed;
        count = count * keep + 1;
        value = sum / count;
        lastNanos = now;
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
