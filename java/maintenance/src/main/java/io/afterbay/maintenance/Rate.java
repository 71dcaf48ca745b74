package io.afterbay.maintenance;

/**
 * Events per second, in which what was observed a half-life of observed time ago counts half. Not
 * safe for use by several threads.
 */
final class Rate {
    private static final double NANOS_PER_SECOND = 1e9;

    private final double halfLifeNanos;
    private double events;
    private double nanos;

    Rate(long halfLifeNanos) {
        this.halfLifeNanos = halfLifeNanos;
    }

    void observe(long newEvents, long newNanos) {
        if (newEvents < 0 || newNanos <= 0) {
            throw new IllegalArgumentException(
                    "a rate is of 0 or more events in at least 1 ns, not of "
                            + newEvents
                            + " in "
                            + newNanos);
        }
        double keep = Math.pow(0.5, newNanos / halfLifeNanos);
        events = events * keep + newEvents;
        nanos = nanos * keep + newNanos;
    }

    boolean isKnown() {
        return nanos > 0;
    }

    double perSecond() {
        return events / nanos * NANOS_PER_SECOND;
    }
}
