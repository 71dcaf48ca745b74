package io.afterbay.stragglers;

/**
 * What a sender knows of one task: how many of its tuples are there, and how long the task takes
 * for each.
 *
 * <pre>
 *   sent        s1   s2        s3
 *   completed          c1           c2   c3
 *   service     |------||-----------||---|     of s1, s2, s3
 * </pre>
 *
 * <p>A task is at work on a tuple since the tuple was sent, or since the one before was completed,
 * whichever is later. That excludes the time for which a tuple waited behind others of the same
 * sender. With several senders it is what a tuple of this sender takes, those of the others between
 * them included, which is what the sender has to reckon with.
 *
 * <p>The service time is a mean in which what ended one half-life ago counts half. So one new
 * observation after a long silence counts for nearly all.
 *
 * <p>Writers take turns. Readers take no lock: each field is whole, and they may be of different
 * moments, which a choice bears.
 */
final class TaskLoad {
    /** The mean until something is known. */
    private static final double UNKNOWN = -1;

    private final double halfLifeNanos;
    private final double idleHalfLifeNanos;
    private volatile int outstanding;
    private volatile double serviceNanos = UNKNOWN;

    /** Since when it is at work on its oldest tuple, or idle. */
    private volatile long sinceNanos;

    private double sum;
    private double count;
    private long lastSampleNanos;

    TaskLoad(double halfLifeNanos, double idleHalfLifeNanos, long now) {
        this.halfLifeNanos = halfLifeNanos;
        this.idleHalfLifeNanos = idleHalfLifeNanos;
        this.sinceNanos = now;
        this.lastSampleNanos = now;
    }

    synchronized void sent(long now) {
        if (outstanding == 0) {
            sinceNanos = now;
        }
        setOutstanding(outstanding + 1L);
    }

    synchronized void completed(long latencyNanos, long now) {
        if (outstanding > 0) {
            observe(Math.min(Math.max(0, latencyNanos), elapsed(now)), now);
            next(now);
        }
    }

    /** A task may fail fast or hang: that counts if it makes the task slower, and never faster. */
    synchronized void failed(long now) {
        if (outstanding > 0) {
            if (serviceNanos >= 0 && elapsed(now) > serviceNanos) {
                observe(elapsed(now), now);
            }
            next(now);
        }
    }

    private void next(long now) {
        setOutstanding(outstanding - 1L);
        sinceNanos = now;
    }

    private void setOutstanding(long value) {
        outstanding = (int) Math.min(value, Integer.MAX_VALUE);
    }

    private void observe(long nanos, long now) {
        double keep = aged(1, now - lastSampleNanos, halfLifeNanos);
        sum = sum * keep + nanos;
        count = count * keep + 1;
        serviceNanos = sum / count;
        lastSampleNanos = now;
    }

    private static double aged(double value, long nanos, double halfLifeNanos) {
        return value * Math.pow(0.5, Math.max(0, nanos) / halfLifeNanos);
    }

    private long elapsed(long now) {
        return Math.max(0, now - sinceNanos);
    }

    int outstanding() {
        return outstanding;
    }

    /** The mean; negative if nothing is known. */
    double serviceNanos() {
        return serviceNanos;
    }

    /** How long one more tuple would take here, the tuples before it included. */
    double scoreBeside(TaskLoad other, long now) {
        return (outstanding + 1.0) * Math.max(1, expectedNanos(other.serviceNanos, now));
    }

    /**
     * The service time to reckon with, beside that of another task. A task at work takes at least
     * as long as it already has. One that is idle nears the other one with time, if it was slower,
     * so that it is tried again. One that is unknown is as fast as the other.
     */
    private double expectedNanos(double other, long now) {
        double known = serviceNanos < 0 ? other : serviceNanos;
        if (outstanding > 0) {
            return Math.max(known, (double) elapsed(now));
        }
        boolean isSlower = other >= 0 && known > other;
        return isSlower ? Math.max(other, aged(known, elapsed(now), idleHalfLifeNanos)) : known;
    }
}
