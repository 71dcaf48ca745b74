package io.afterbay.replay;

/**
 * Holds one reader to its share of the rate: a bucket that time fills with records that may pass,
 * and that holds a quarter of a second at most. One poll may bring many records; they are owed, and
 * waited for afterwards. So over any time t, no more than {@code rate * (t + 0.25 s)} records and
 * what one poll brings pass.
 *
 * <p>Not thread safe. Times are {@link System#nanoTime}'s, or those of another clock.
 */
final class Pace {
    private static final double BURST_S = 0.25;
    private static final double NANOS_PER_S = 1e9;

    /** A timer costs more than a record. */
    private static final long WAIT_MS_MIN = 5;

    private static final long WAIT_MS_MAX = 1_000;

    private double recordsPerSecond;
    private double allowed;
    private long filledAtNanos;

    /** Lets nothing pass until a rate is set. */
    Pace(long nowNanos) {
        filledAtNanos = nowNanos;
    }

    /**
     * @param recordsPerSecond from now on; 0 for none, infinity for all
     */
    void set(double recordsPerSecond, long nowNanos) {
        fill(nowNanos);
        this.recordsPerSecond = recordsPerSecond;
        allowed = Math.min(allowed, full());
    }

    /** Whether a record may pass now. */
    boolean allows(long nowNanos) {
        if (recordsPerSecond == Double.POSITIVE_INFINITY) {
            return true;
        }
        if (recordsPerSecond == 0) {
            return false;
        }
        if (allowed < 1) {
            fill(nowNanos);
        }
        return allowed >= 1;
    }

    void passed(int records) {
        if (recordsPerSecond != Double.POSITIVE_INFINITY) {
            allowed -= records;
        }
    }

    /** Whether only another rate will let something pass. */
    boolean isPaused() {
        return recordsPerSecond == 0;
    }

    /** In how many milliseconds to ask again, if nothing is allowed now. */
    long waitMs() {
        double seconds = (1 - allowed) / recordsPerSecond;
        return Math.max(WAIT_MS_MIN, (long) Math.min(WAIT_MS_MAX, Math.ceil(seconds * 1_000)));
    }

    private void fill(long nowNanos) {
        double seconds = Math.max(0, nowNanos - filledAtNanos) / NANOS_PER_S;
        filledAtNanos = nowNanos;
        if (recordsPerSecond != Double.POSITIVE_INFINITY) {
            allowed = Math.min(full(), allowed + seconds * recordsPerSecond);
        }
    }

    private double full() {
        if (recordsPerSecond == Double.POSITIVE_INFINITY) {
            return 0;
        }
        return Math.max(1, recordsPerSecond * BURST_S);
    }
}
