package io.afterbay.rocksdb;

/**
 * What {@link Desync} does.
 *
 * @param spreadsTriggers whether instances have L0 triggers that differ; without risk at run time
 * @param isGated whether compactions are held back while instances flush together, and for T after
 *     that
 * @param deadlineNanos the longest hold of the gate, at least {@link #DEADLINE_MIN_NANOS}. Below
 *     the interval of checkpoints, or else the compactions of one meet the flushes of the next
 * @param threads compactions at once
 * @param delayNanos T, above 0 and below the deadline; {@link #ESTIMATED}: as long as the queue of
 *     the burst takes to drain ({@link io.afterbay.maintenance.BurstDelay})
 * @param flushThreads flushes at once, up to {@link CompactionThreads#MAX}; 0 for as many as
 *     RocksDB and its user want, which is one with Flink's defaults
 */
public record DesyncSettings(
        boolean spreadsTriggers,
        boolean isGated,
        long deadlineNanos,
        CompactionThreads threads,
        long delayNanos,
        int flushThreads) {
    /** For the delay. */
    public static final long ESTIMATED = 0;

    /** Twice the time that a burst has to be quiet to be over. */
    public static final long DEADLINE_MIN_NANOS = 100_000_000;

    public DesyncSettings {
        if (deadlineNanos < DEADLINE_MIN_NANOS) {
            throw new IllegalArgumentException(
                    "the deadline of the gate is at least "
                            + DEADLINE_MIN_NANOS
                            + " ns, not "
                            + deadlineNanos);
        }
        if (delayNanos < 0 || delayNanos >= deadlineNanos) {
            throw new IllegalArgumentException(
                    "the delay of the gate is below its deadline of "
                            + deadlineNanos
                            + " ns and not negative, not "
                            + delayNanos);
        }
        if (flushThreads < 0 || flushThreads > CompactionThreads.MAX) {
            throw new IllegalArgumentException(
                    "threads for flushes are 0 to "
                            + CompactionThreads.MAX
                            + ", not "
                            + flushThreads);
        }
    }

    /** With a delay that is estimated, and flushes as they are. */
    public DesyncSettings(
            boolean spreadsTriggers,
            boolean isGated,
            long deadlineNanos,
            CompactionThreads threads) {
        this(spreadsTriggers, isGated, deadlineNanos, threads, ESTIMATED, 0);
    }

    /** Triggers that differ, and nothing else. */
    public static DesyncSettings defaults() {
        return new DesyncSettings(true, false, 3_000_000_000L, CompactionThreads.DEFAULT);
    }

    /** Whether anything looks after the pools, or seeks the knee. */
    boolean needsCoordinator() {
        return flushThreads > 0 || limitsCompactions();
    }

    /** Then instances whose writes slow down matter. */
    boolean limitsCompactions() {
        return isGated || threads.mode() != CompactionThreads.Mode.DEFAULT;
    }
}
