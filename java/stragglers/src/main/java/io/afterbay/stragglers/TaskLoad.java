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
 * them included, which is what the sender has to reckon with; unless the task tells for how long it
 * was at work on the tuple itself, which is less.
 *
 * <p>The cost of one more tuple is the time until it would be done, the tuples before it included.
 */
final class TaskLoad implements Load {
    private final double idleHalfLifeNanos;
    private final AgedMean service;
    private volatile int outstanding;

    /** Since when it is at work on its oldest tuple, or idle. */
    private volatile long sinceNanos;

    TaskLoad(double halfLifeNanos, double idleHalfLifeNanos, long now) {
        this.service = new AgedMean(halfLifeNanos, now);
        this.idleHalfLifeNanos = idleHalfLifeNanos;
        this.sinceNanos = now;
    }

    @Override
    public synchronized void sent(long now) {
        if (outstanding == 0) {
            sinceNanos = now;
        }
        setOutstanding(outstanding + 1L);
    }

    @Override
    public synchronized void completed(long latencyNanos, long now) {
        if (outstanding > 0) {
            service.observe(Math.min(Math.max(0, latencyNanos), elapsed(now)), now);
            next(now);
        }
    }

    /** A task may fail fast or hang: that counts if it makes the task slower, and never faster. */
    @Override
    public synchronized void failed(long now) {
        if (outstanding > 0) {
            if (meanNanos() >= 0 && elapsed(now) > meanNanos()) {
                service.observe(elapsed(now), now);
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

    private long elapsed(long now) {
        return Math.max(0, now - sinceNanos);
    }

    @Override
    public int outstanding() {
        return outstanding;
    }

    @Override
    public double meanNanos() {
        return service.value();
    }

    @Override
    public double scoreBeside(Load other, long now) {
        int count = outstanding;
        double expected =
                Load.expectedNanos(
                        meanNanos(), other.meanNanos(), count > 0, elapsed(now), idleHalfLifeNanos);
        return (count + 1.0) * Math.max(1, expected);
    }
}
