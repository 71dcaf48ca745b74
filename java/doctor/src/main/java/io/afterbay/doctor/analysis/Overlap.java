package io.afterbay.doctor.analysis;

/**
 * What runs at the same time.
 *
 * @param ofCompactions part of the time of compactions during which two or more instances compact
 * @param ofCompactionsByChance the same if the instances' phases were independent: for an instance,
 *     1 - Π(1 - u) over the others, where u is the part of time in which one compacts
 * @param meanOthers instances that compact beside a compaction, in the mean over its time
 * @param meanOthersByChance the same for independent phases: the sum of u over the others
 * @param ofFlushes part of the time of flushes during which two or more instances compact
 * @param ofFlushesWithAny part of the time of flushes during which an instance compacts
 * @param mostCompactions at once
 * @param mostInstances that compact at once
 * @param mostFlushes at once
 */
public record Overlap(
        double ofCompactions,
        double ofCompactionsByChance,
        double meanOthers,
        double meanOthersByChance,
        double ofFlushes,
        double ofFlushesWithAny,
        int mostCompactions,
        int mostInstances,
        int mostFlushes) {}
