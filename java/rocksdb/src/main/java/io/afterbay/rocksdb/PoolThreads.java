package io.afterbay.rocksdb;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Closes, limits and opens a pool of RocksDB, and remembers what others want it to be. They do not
 * ask: opening a database, {@code setIncreaseParallelism} and {@code setDBOptions} set the number,
 * so it is looked at again and again. While it is ours, the largest that anybody set is what it
 * goes back to, never less.
 *
 * <p>Only the pool of compactions is ever closed: without threads for flushes, flushes go there.
 *
 * <p>Safe for use by any thread.
 */
final class PoolThreads {
    private static final int NOT_OURS = -1;

    private final BackgroundThreads pool;

    /** The number that we set last. */
    private volatile int ours = NOT_OURS;

    private volatile int others = 1;
    private final AtomicLong reassertions = new AtomicLong();
    private boolean isClosed;

    PoolThreads(BackgroundThreads pool) {
        this.pool = pool;
    }

    /**
     * Makes it so.
     *
     * @param isHeld no compaction begins
     * @param limit threads while not held; 0 for as many as others want
     */
    synchronized void apply(boolean isHeld, int limit) {
        if (isClosed) {
            return;
        }
        boolean wantsOurs = isHeld || limit > 0;
        if (!wantsOurs && ours == NOT_OURS) {
            return;
        }
        int current = pool.count();
        if (ours == NOT_OURS) {
            others = Math.max(1, current);
        } else if (current != ours) {
            others = Math.max(others, current);
            reassertions.incrementAndGet();
        }
        int wanted = isHeld ? 0 : wantsOurs ? limit : others;
        if (current != wanted) {
            pool.setCount(wanted);
        }
        ours = wantsOurs ? wanted : NOT_OURS;
    }

    /** Gives the pool back, for good; also if it cannot be looked at any more. */
    synchronized void close() {
        try {
            apply(false, 0);
        } finally {
            isClosed = true;
            forceOpen();
        }
    }

    /** Opens a pool that we closed, without waiting for a thread that may be stuck in apply. */
    void forceOpen() {
        if (ours == 0) {
            pool.setCount(others);
        }
    }

    /** How often somebody else had changed the number. */
    long reassertions() {
        return reassertions.get();
    }
}
