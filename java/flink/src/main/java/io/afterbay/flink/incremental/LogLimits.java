package io.afterbay.flink.incremental;

import org.jspecify.annotations.Nullable;

/**
 * How long the log behind a base may get: a restore replays it, and the disk has it. From a first
 * bound on a new base is <i>due</i>, and written while checkpoints go on as increments; it is
 * <i>overdue</i> when that has not come to an end in time, and the next checkpoint writes it.
 *
 * @param redoLogBytes length that makes a base due, unless that is half of it already
 */
record LogLimits(long redoLogBytes) {
    /** State of less is no reason to renew its base. */
    private static final long SMALL_BASE_BYTES = 4 << 20;

    /** Each is an entry in the meta data of every checkpoint, and in the JobManager's memory. */
    private static final int SEGMENTS_MAX = 128;

    /** A task rather waits for the store once than has a log as long. */
    private static final int URGENT = 2;

    /**
     * A base that takes longer to write than three times what made it due is written too slowly.
     */
    private static final int OVERDUE = 3;

    private long bytesMax(@Nullable Base base) {
        long half = base == null ? 0 : base.bytes() / 2;
        return Math.min(redoLogBytes, Math.max(SMALL_BASE_BYTES, half));
    }

    boolean isDue(RedoChain chain, CheckpointFiles last) {
        return exceeds(1, chain, last);
    }

    /** Whether a base that is due is begun though the store is not prepared. */
    boolean isUrgent(RedoChain chain, CheckpointFiles last) {
        return isBehindNothing(last) ? isOverdue(chain, last) : exceeds(URGENT, chain, last);
    }

    boolean isOverdue(RedoChain chain, CheckpointFiles last) {
        return isBehindNothing(last)
                ? chain.bytesFrom(last.position) > redoLogBytes
                : exceeds(OVERDUE, chain, last);
    }

    /**
     * Behind an empty base the log may grow as long as any, and the store has time to prepare: it
     * may have much that was never written home.
     */
    private static boolean isBehindNothing(CheckpointFiles last) {
        Base base = last.base;
        return base != null && base.bytes() == 0;
    }

    private boolean exceeds(int times, RedoChain chain, CheckpointFiles last) {
        return chain.bytesFrom(last.position) > times * bytesMax(last.base)
                || chain.end() - last.position > (long) times * SEGMENTS_MAX;
    }

    /** Whether it will be due if the log grows as much again as it has grown from there on. */
    boolean isDueNext(RedoChain chain, CheckpointFiles last, long from) {
        long growth = chain.bytesFrom(Math.max(last.position, from));
        return chain.bytesFrom(last.position) + growth > bytesMax(last.base);
    }
}
