package io.afterbay.store.page;

import io.afterbay.store.MemoryBudget;

/**
 * What a store has of the memory budget that it shares with others: so much is <i>granted</i>, and
 * a part of that is <i>used</i>. More is granted in steps, as long as the budget has some left.
 *
 * <p>Used under the store's lock. Without it the owner may ask {@link #hasRoom}, to find out
 * whether it has to take the lock.
 */
final class Allowance {
    private final MemoryBudget budget;
    private final long stepBytes;
    private long used;
    private long granted;

    Allowance(MemoryBudget budget) {
        this.budget = budget;
        stepBytes = Math.max(64 << 10, Math.min(1 << 20, budget.totalBytes() / 64));
    }

    long used() {
        return used;
    }

    long granted() {
        return granted;
    }

    /** Whether so much more is granted already. */
    boolean hasRoom(long bytes) {
        return used + bytes <= granted;
    }

    /** Uses so much, granted or not: there is room for it, or the next safepoint makes it. */
    void use(long bytes) {
        used += bytes;
    }

    /** Uses so much if it is granted, or can be. */
    boolean tryUse(long bytes) {
        if (!hasRoom(bytes) && !grow(bytes)) {
            return false;
        }
        used += bytes;
        return true;
    }

    void refund(long bytes) {
        used -= bytes;
    }

    /** Makes room for so many bytes if the budget has them; in whole steps, if it has those. */
    boolean grow(long bytes) {
        long missing = used + bytes - granted;
        long steps = (missing + stepBytes - 1) / stepBytes;
        return take(steps * stepBytes) || take(missing);
    }

    private boolean take(long bytes) {
        if (budget.tryReserve(bytes)) {
            granted += bytes;
            return true;
        }
        return false;
    }

    /** Gives back what is granted beyond that. */
    void shrinkTo(long bytes) {
        if (granted > bytes) {
            budget.release(granted - bytes);
            granted = bytes;
        }
    }

    /** Nothing is used any more. */
    void end() {
        used = 0;
        shrinkTo(0);
    }
}
