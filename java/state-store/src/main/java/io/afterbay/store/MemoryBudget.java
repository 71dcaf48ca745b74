package io.afterbay.store;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
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
    private final AtomicInteger pressure = new AtomicInteger();
    private final List<Runnable> members = new CopyOnWriteArrayList<>();

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
        return members.size();
    }

    /** An equal share of the budget for each store. */
    public long shareBytes() {
        return totalBytes / Math.max(1, members.size());
    }

    /**
     * A store begins to share. {@code shrink} is called by any thread when another one is short.
     */
    public void join(Runnable shrink) {
        members.add(shrink);
    }

    /** A store has given everything back. */
    public void leave(Runnable shrink) {
        members.remove(shrink);
    }

    /** Changes each time a store below its share found no memory. */
    public int pressure() {
        return pressure.get();
    }

    /** A store below its share finds no memory: the others are to shrink to theirs. */
    public void raisePressure(Runnable self) {
        pressure.incrementAndGet();
        for (Runnable shrink : members) {
            if (shrink != self) {
                shrink.run();
            }
        }
    }

    /** Takes {@code bytes}; false if that would exceed the total. */
    public boolean tryReserve(long bytes) {
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

    /** Gives back what was taken. */
    public void release(long bytes) {
        usedBytes.addAndGet(-bytes);
    }
}
