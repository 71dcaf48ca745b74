package io.afterbay.rocksdb;

import io.afterbay.maintenance.BurstDelay;
import io.afterbay.maintenance.BurstGate;

/**
 * When compactions of a process are held back: while instances flush together and for T after that
 * ({@link BurstGate}, {@link BurstDelay}), unless
 *
 * <ul>
 *   <li>an instance has nearly as many files in L0 as slow writes down. Then flushes would wait for
 *       a compaction, checkpoints for flushes, and checkpoints are what makes the bursts;
 *   <li>the hold has reached its deadline;
 *   <li>the last hold ended less than its own length ago. So the pool is open at least half of the
 *       time, whatever the bursts do, and a backlog drains.
 * </ul>
 *
 * <p>No clock inside. Guarded by the coordinator's lock.
 */
final class CompactionHold {
    /** A burst is over when nothing was flushed for one of the paper's windows. */
    static final long QUIET_NANOS = 50_000_000;

    private final boolean isGated;
    private final long deadlineNanos;
    private final BurstDelay delay;
    private final BurstGate bursts;
    private int nearSlowdown;
    private boolean isHolding;
    private long sinceNanos;
    private long burstBeganNanos;

    /** Of the present hold: counts from the beginning of the burst. */
    private long endsNanos;

    private boolean hasRest;
    private long restsUntilNanos;
    private long holds;
    private long heldNanos;
    private long endedByGuard;
    private long endedByDeadline;

    CompactionHold(DesyncSettings settings) {
        isGated = settings.isGated();
        deadlineNanos = settings.deadlineNanos();
        long fixed = settings.delayNanos();
        delay =
                fixed == DesyncSettings.ESTIMATED
                        ? new BurstDelay(QUIET_NANOS, deadlineNanos)
                        : new BurstDelay(fixed, fixed);
        bursts = new BurstGate(delay, deadlineNanos);
    }

    BurstDelay delay() {
        return delay;
    }

    void flushBegan(BurstGate.Member member, long nowNanos) {
        long before = bursts.burst();
        bursts.began(member, nowNanos);
        if (bursts.burst() != before) {
            burstBeganNanos = nowNanos;
        }
    }

    void flushEnded(BurstGate.Member member, long nowNanos) {
        bursts.ended(member, nowNanos);
    }

    void allFlushesEnded(BurstGate.Member member, long nowNanos) {
        bursts.allEnded(member, nowNanos);
    }

    /** The number of the latest burst, from 1; 0 before the first. */
    long burst() {
        return bursts.burst();
    }

    boolean isBurst(long nowNanos) {
        return bursts.isHolding(nowNanos);
    }

    /** An instance came near the slowdown of its writes, or is no longer (-1). */
    void addNearSlowdown(int instances) {
        nearSlowdown += instances;
    }

    /** Whether compactions are to be held back now. */
    boolean update(long nowNanos) {
        boolean holds = isGated && nearSlowdown == 0 && bursts.isHolding(nowNanos);
        if (isHolding) {
            holds &= nowNanos - endsNanos < 0;
        } else {
            holds &= !isResting(nowNanos);
        }
        if (holds != isHolding) {
            change(holds, nowNanos);
        }
        return isHolding;
    }

    /** Ends a hold that nobody will look after any more. */
    void giveUp(long nowNanos) {
        if (isHolding) {
            change(false, nowNanos);
        }
    }

    private boolean isResting(long nowNanos) {
        return hasRest && nowNanos - restsUntilNanos < 0;
    }

    private void change(boolean holdsNow, long nowNanos) {
        isHolding = holdsNow;
        if (holdsNow) {
            holds++;
            sinceNanos = nowNanos;
            endsNanos = burstBeganNanos + deadlineNanos;
        } else {
            ended(nowNanos, nowNanos - sinceNanos);
        }
    }

    private void ended(long nowNanos, long length) {
        heldNanos += length;
        hasRest = true;
        restsUntilNanos = nowNanos + length;
        if (nearSlowdown > 0) {
            endedByGuard++;
        } else if (nowNanos - endsNanos >= 0) {
            endedByDeadline++;
        }
    }

    /** How long until {@link #update} may answer differently, if nothing else happens. */
    long nanosToChange(long nowNanos) {
        if (isHolding) {
            return Math.min(endsNanos - nowNanos, bursts.endOfHold(nowNanos) - nowNanos);
        }
        boolean waits = isGated && nearSlowdown == 0 && bursts.isHolding(nowNanos);
        return waits && hasRest ? restsUntilNanos - nowNanos : Long.MAX_VALUE;
    }

    /** Whether the hold should have ended that long ago: nobody looks after it. */
    boolean isOverdue(long nowNanos, long graceNanos) {
        return isHolding && nowNanos - endsNanos >= graceNanos;
    }

    long holds() {
        return holds;
    }

    long heldNanos(long nowNanos) {
        return heldNanos + (isHolding ? nowNanos - sinceNanos : 0);
    }

    boolean isHolding() {
        return isHolding;
    }

    long endedByGuard() {
        return endedByGuard;
    }

    long endedByDeadline() {
        return endedByDeadline;
    }
}
