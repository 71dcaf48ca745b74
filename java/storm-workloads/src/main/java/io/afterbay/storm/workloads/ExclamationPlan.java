package io.afterbay.storm.workloads;

import java.io.Serializable;

/**
 * What a run of the exclamation topology does (a spout and three bolts in a row, by shuffle
 * grouping; Du &amp; Gupta 2016, section 5.1.1).
 *
 * @param run its name, which no other run in this process has
 * @param ratePerS words that are due in a second, by a schedule that waits for nobody
 * @param warmUpWords the first ones, whose latency does not count
 * @param words all of them
 * @param tasks of each bolt
 * @param workers over which they are spread
 * @param serviceMs mean time that a bolt sleeps for a word; exponentially distributed
 * @param slowdown how many times as long the first task of the first bolt takes; 1 for none
 * @param seed of the sleeps
 */
record ExclamationPlan(
        String run,
        Technique technique,
        double ratePerS,
        int warmUpWords,
        int words,
        int tasks,
        int workers,
        double serviceMs,
        double slowdown,
        long seed)
        implements Serializable {

    private static final double NANOS_PER_S = 1e9;

    /** When a word is due, after the first one. */
    long dueNanos(int number) {
        return (long) (number / ratePerS * NANOS_PER_S);
    }

    boolean counts(int number) {
        return number >= warmUpWords;
    }
}
