package io.afterbay.rocksdb;

/**
 * What the RocksDB instances of a process did since the first one of them was opened.
 *
 * @param instances that are open
 * @param flushes at work
 * @param compactions at work
 * @param compactionsQueued that wait for a thread, or for the gate
 * @param flushesBegan so far
 * @param compactionsBegan so far
 * @param mostFlushes at once
 * @param mostCompactions at once
 * @param overlaps flushes that began beside a compaction, and compactions beside a flush
 * @param bursts of flushes that a checkpoint or a program asked for
 * @param isBurst whether one is under way, or the time after it in which another flush belongs to
 *     it
 * @param mostCompactionsOfBurst the most compactions that began after the beginning of a burst and
 *     before that of the next
 * @param isHolding whether the gate holds compactions back now
 * @param holds of the gate
 * @param heldNanos how long, in all
 * @param delayNanos T after the last burst, 0 before it; of a hold that nothing cuts short
 * @param holdsEndedByGuard because an instance was near the slowdown of its writes
 * @param holdsEndedByDeadline because they had lasted as long as a hold may
 * @param reassertions how often somebody else had changed the number of threads
 * @param kneeThreads the last recommendation; 0 for none
 * @param hasFailed whether the coordinator has ended by an error, which the log has; then nothing
 *     is held back until all instances are closed
 */
public record DesyncMetrics(
        int instances,
        int flushes,
        int compactions,
        int compactionsQueued,
        long flushesBegan,
        long compactionsBegan,
        int mostFlushes,
        int mostCompactions,
        long overlaps,
        long bursts,
        boolean isBurst,
        int mostCompactionsOfBurst,
        boolean isHolding,
        long holds,
        long heldNanos,
        long delayNanos,
        long holdsEndedByGuard,
        long holdsEndedByDeadline,
        long reassertions,
        int kneeThreads,
        boolean hasFailed) {}
