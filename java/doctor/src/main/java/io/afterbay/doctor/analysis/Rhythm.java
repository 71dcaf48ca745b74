package io.afterbay.doctor.analysis;

/**
 * What repeats. All are 0 where flushes do not come in bursts, except the last two.
 *
 * @param bursts moments at which half of the instances or more flush, see {@link Bursts}
 * @param periodMicros from one to the next: the interval of checkpoints or commits
 * @param burstMicros how long they last, 90th percentile
 * @param burstsWithCompactions during which an instance compacts
 * @param burstsWithSeveral during which two or more do
 * @param everyNthBurst how many bursts a column family makes of one compaction, in the median
 * @param longestWaveMicros the longest time in which compactions ran in a slot
 * @param slots pieces of time that the analysis went by
 */
public record Rhythm(
        int bursts,
        long periodMicros,
        long burstMicros,
        int burstsWithCompactions,
        int burstsWithSeveral,
        int everyNthBurst,
        long longestWaveMicros,
        int slots) {}
