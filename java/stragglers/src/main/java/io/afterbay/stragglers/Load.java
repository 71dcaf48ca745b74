package io.afterbay.stragglers;

/**
 * What a sender knows of one task. Writers take turns. Readers take no lock: each value is whole,
 * and two may be of different moments, which a choice bears.
 */
interface Load {
    void sent(long now);

    /**
     * @param latencyNanos since it was sent; negative ones count as 0
     */
    void completed(long latencyNanos, long now);

    void failed(long now);

    /** Tuples that were sent and are not back. */
    int outstanding();

    /** The mean time of a tuple; negative if nothing is known. */
    double meanNanos();

    /** What one more tuple costs here; only to be compared with the score of that other one. */
    double scoreBeside(Load other, long now);

    /**
     * The time of a tuple to reckon with, beside that of another task. A task at work takes at
     * least as long as it already has. One that is idle nears the other one with time, if it was
     * slower, so that it is tried again. One that is unknown is as fast as the other.
     *
     * @param mean negative if nothing is known; so the other one's
     * @param nanos for which it has been at work on its oldest tuple, or idle
     */
    static double expectedNanos(
            double mean, double other, boolean isAtWork, long nanos, double idleHalfLifeNanos) {
        double known = mean < 0 ? other : mean;
        if (isAtWork) {
            return Math.max(known, (double) nanos);
        }
        boolean isSlower = other >= 0 && known > other;
        return isSlower ? Math.max(other, AgedMean.aged(known, nanos, idleHalfLifeNanos)) : known;
    }
}
