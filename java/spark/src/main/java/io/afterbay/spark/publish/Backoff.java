package io.afterbay.spark.publish;

/**
 * Pauses between attempts: doubled with each, up to a limit, and of that a random part, so that
 * those who failed together do not come back together.
 *
 * @param firstNanos limit of the first pause, above 0
 * @param maxNanos limit of all, at least the first
 */
public record Backoff(long firstNanos, long maxNanos) {
    public Backoff {
        if (firstNanos < 1 || maxNanos < firstNanos) {
            throw new IllegalArgumentException(
                    "the first pause must be above 0 ns and at most the longest, not "
                            + firstNanos
                            + " and "
                            + maxNanos);
        }
    }

    /**
     * @param failures so far, 1 or more
     * @param random from 0 to below 1
     * @return at least half of the limit
     */
    long nanos(int failures, double random) {
        int doublings = Math.min(failures - 1, Long.numberOfLeadingZeros(firstNanos) - 2);
        long limit = Math.min(maxNanos, firstNanos << doublings);
        return limit / 2 + (long) (random * (limit - limit / 2));
    }
}
