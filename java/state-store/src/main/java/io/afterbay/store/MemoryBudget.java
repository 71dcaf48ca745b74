package io.afterbay.store;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A bound on the off-heap memory of all stores that share it (of one slot, as a rule). The bound is
 * hard: what would exceed it is refused, and the store makes room or spills first. Thread safe.
 */
public final class MemoryBudget {
    private final long totalBytes;
    private final AtomicLong usedBytes = new AtomicLong();
    private final AtomicLong peakBytes = new AtomicLong();
    private final AtomicInteger shares = new AtomicInteger();

    public MemoryBudget(long totalBytes) {
        if (totalBytes <= 0) {
            throw new IllegalArgumentException("memory budget must be positive, not " + totalBytes);
        }
        this.totalBytes = totalBytes;
    }

    public long totalBytes() {
        return totalBytes;
    }

    public long usedBytes() {
        return usedBytes.get();
    }

    /** The most that was ever in use. */
    public long peakBytes() {
        return peakBytes.get();
    }

    /** Stores that share this budget now. */
    public int shares() {
        return shares.get();
    }

    /** An equal share of the budget for each store. */
    public long shareBytes() {
        return totalBytes / Math.max(1, shares.get());
    }

    void join() {
        shares.incrementAndGet();
    }

    void leave() {
        shares.decrementAndGet();
    }

    boolean tryReserve(long bytes) {
        for (; ; ) {
            long used = usedBytes.get();
            if (used + bytes > totalBytes) {
                return false;
            }
            if (usedBytes.compareAndSet(used, used + bytes)) {
                peakBytes.accumulateAndGet(used + bytes, Math::max);
                return true;
            }
        }
    }

    void release(long bytes) {
        usedBytes.addAndGet(-bytes);
    }
}
