package io.afterbay.maintenance;

/**
 * Holds deferrable tasks back during a burst of checkpoints and for the delay after it. A burst
 * begins with the first checkpoint of any instance, and ends when none is under way; a checkpoint
 * that begins during the delay prolongs it, since the queue has not drained. A burst that lasts
 * longer than the limit (an end that nobody reported, or checkpoints that always overlap) is given
 * up: the gate opens, and the next beginning is that of a new burst.
 *
 * <p>Guarded by its scheduler's lock.
 */
final class BurstGate {
    private final BurstDelay delay;
    private final long limitNanos;

    /** The number of the latest burst, from 1; 0 before the first. */
    private long burst;

    /** Checkpoints of the latest burst that are under way. */
    private int open;

    private long beganNanos;
    private long untilNanos;

    BurstGate(BurstDelay delay, long limitNanos) {
        this.delay = delay;
        this.limitNanos = limitNanos;
    }

    /** A gate that holds no longer than the deadline, and not at all if there is to be no pause. */
    static BurstGate of(MaintenanceSettings settings, BurstDelay delay) {
        return new BurstGate(delay, settings.maxPauseNanos() == 0 ? 0 : settings.deadlineNanos());
    }

    /** A checkpoint of the instance begins; true if that changed {@link #endOfHold}. */
    boolean began(MaintenanceInstance instance, long nowNanos) {
        if (!isHolding(nowNanos)) {
            burst++;
            open = 0;
            beganNanos = nowNanos;
        }
        boolean isFirst = open == 0;
        if (isFirst) {
            untilNanos = beganNanos + limitNanos;
        }
        if (instance.burst != burst) {
            instance.burst = burst;
            instance.checkpoints = 0;
        }
        instance.checkpoints++;
        open++;
        return isFirst;
    }

    /**
     * A checkpoint of the instance has ended; true if that changed {@link #endOfHold}. Ignored if
     * it did not begin, or belongs to a burst that was given up.
     */
    boolean ended(MaintenanceInstance instance, long nowNanos) {
        return ended(instance, Math.min(1, instance.checkpoints), nowNanos);
    }

    /** All checkpoints of the instance have ended. */
    boolean allEnded(MaintenanceInstance instance, long nowNanos) {
        return ended(instance, instance.checkpoints, nowNanos);
    }

    private boolean ended(MaintenanceInstance instance, int checkpoints, long nowNanos) {
        if (checkpoints == 0 || instance.burst != burst) {
            return false;
        }
        instance.checkpoints -= checkpoints;
        open -= checkpoints;
        if (open > 0 || !isHolding(nowNanos)) {
            return false;
        }
        long length = nowNanos - beganNanos;
        untilNanos = nowNanos + Math.min(delay.delayNanos(length), limitNanos - length);
        return true;
    }

    private boolean isHolding(long nowNanos) {
        return burst > 0 && nowNanos - untilNanos < 0;
    }

    /** When tasks of that moment may begin: the end of the hold, or at once. */
    long endOfHold(long momentNanos) {
        return isHolding(momentNanos) ? untilNanos : momentNanos;
    }
}
