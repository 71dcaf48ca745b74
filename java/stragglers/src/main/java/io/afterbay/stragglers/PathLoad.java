package io.afterbay.stragglers;

/**
 * What the sender of a whole path's first tuples knows of one task, the first of the path: it hears
 * of a tuple only when all that came of it is done.
 *
 * <pre>
 *   sent        s1   s2   s3   s4   s5
 *   completed                s3
 *   before it   s1   s2   s3                 behind the task, wherever they are
 *   ahead                      s4   s5       may still be at the task
 * </pre>
 *
 * <p>A task takes its tuples in the order in which they were sent. So when one comes back, all that
 * were sent before it have left the task as well: they wait behind it, or are lost. What is left is
 * what may be at the task; tuples that are late elsewhere, or never come back, do not count.
 *
 * <p>The cost of one more tuple is
 *
 * <pre>
 *   score = (ahead + 1) * latency²        latency: the aged mean over the whole path
 * </pre>
 *
 * <p>Most of the latency, and of what is ahead, is the same for all tasks, and hides in what they
 * differ. The square brings it out. It grows with the task's traffic, so that it limits itself.
 *
 * <p>While tuples are ahead, the path takes at least as long as the oldest of them has been under
 * way: a task that hangs is left alone at once. But that one may be lost, and if no other tuple
 * follows, nothing would ever tell. So a task that has got none for twice its latency, doubled for
 * each tuple ahead, counts as idle, until it gets one. To a task that hangs that costs a tuple each
 * 5 s in the end, where latencies are 20 ms.
 */
final class PathLoad implements Load {
    /** More that are ahead count as these. */
    static final int AHEAD_MAX = 1 << 16;

    private static final int AHEAD_AT_FIRST = 64;

    /** Paths that are faster are waited for as long as this one. */
    private static final double PATIENCE_NANOS_MIN = 1e6;

    /** How often the patience is doubled. */
    private static final int DOUBLED_MAX = 8;

    private final double idleHalfLifeNanos;
    private final AgedMean latency;
    private volatile int outstanding;
    private volatile int ahead;

    /** When the oldest of those ahead was sent; if there are none, of the last event. */
    private volatile long sinceNanos;

    private volatile long lastSentNanos;

    /** When those ahead were sent: a ring, of which the oldest is at first. */
    private long[] sentNanos = new long[AHEAD_AT_FIRST];

    private int first;

    PathLoad(double halfLifeNanos, double idleHalfLifeNanos, long now) {
        this.latency = new AgedMean(halfLifeNanos, now);
        this.idleHalfLifeNanos = idleHalfLifeNanos;
        this.sinceNanos = now;
    }

    @Override
    public synchronized void sent(long now) {
        outstanding = outstanding == Integer.MAX_VALUE ? outstanding : outstanding + 1;
        int count = ahead;
        if (count == sentNanos.length) {
            count = makeRoom();
        }
        sentNanos[place(count)] = now;
        lastSentNanos = now;
        setAhead(count + 1, now);
    }

    private int makeRoom() {
        if (sentNanos.length == AHEAD_MAX) {
            first = place(1);
            return AHEAD_MAX - 1;
        }
        long[] larger = new long[sentNanos.length * 2];
        for (int i = 0; i < sentNanos.length; i++) {
            larger[i] = sentNanos[place(i)];
        }
        int count = sentNanos.length;
        sentNanos = larger;
        first = 0;
        return count;
    }

    private int place(int n) {
        return (first + n) & (sentNanos.length - 1);
    }

    private void setAhead(int count, long now) {
        sinceNanos = count == 0 ? now : sentNanos[first];
        ahead = count; // last, so that who sees the count without the lock has its time too
    }

    @Override
    public synchronized void completed(long latencyNanos, long now) {
        if (outstanding > 0) {
            long nanos = Math.max(0, latencyNanos);
            latency.observe((double) nanos, now);
            outstanding--;
            forget(now - nanos, now);
        }
    }

    /**
     * Nobody says which tuple it was, nor where it failed. Its time, that of a timeout perhaps,
     * says nothing of the task; what counts is that it is not awaited.
     */
    @Override
    public synchronized void failed(long now) {
        if (outstanding > 0) {
            outstanding--;
            forgetMoreThanOutstanding(ahead, now);
        }
    }

    /** Those that were sent no later than this have left the task. */
    private void forget(long nanos, long now) {
        int count = ahead;
        while (count > 0 && sentNanos[first] - nanos <= 0) {
            first = place(1);
            count--;
        }
        forgetMoreThanOutstanding(count, now);
    }

    private void forgetMoreThanOutstanding(int count, long now) {
        int left = Math.min(count, outstanding);
        first = place(count - left);
        setAhead(left, now);
    }

    @Override
    public int outstanding() {
        return outstanding;
    }

    /** Of those outstanding, how many may still be at the task itself. */
    int ahead() {
        return ahead;
    }

    @Override
    public double meanNanos() {
        return latency.value();
    }

    @Override
    public double scoreBeside(Load other, long now) {
        int count = ahead;
        long since = sinceNanos;
        if (count > 0 && isToBeTried(count, other, now)) {
            count = 0;
            since = lastSentNanos;
        }
        double expected =
                Load.expectedNanos(
                        meanNanos(),
                        other.meanNanos(),
                        count > 0,
                        Math.max(0, now - since),
                        idleHalfLifeNanos);
        double floored = Math.max(1, expected);
        return (count + 1.0) * floored * floored;
    }

    /** Whether the tuples ahead have been waited for long enough to ask by one more. */
    private boolean isToBeTried(int count, Load other, long now) {
        double known = meanNanos() < 0 ? other.meanNanos() : meanNanos();
        double once = Math.max(known, PATIENCE_NANOS_MIN);
        double patience = Math.scalb(once, Math.min(count + 1, DOUBLED_MAX));
        return known >= 0 && now - lastSentNanos > patience;
    }
}
