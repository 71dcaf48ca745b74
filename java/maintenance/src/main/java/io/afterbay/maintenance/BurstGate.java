package io.afterbay.maintenance;

/**
 * Says until when deferrable tasks are held back: during a burst of checkpoints and for the delay
 * after it. A burst begins with the first checkpoint of any instance, and ends when none is under
 * way; a checkpoint that begins during the delay prolongs it, since the queue has not drained. A
 * burst that lasts longer than the limit (an end that nobody reported, or checkpoints that always
 * overlap) is given up: the gate opens, and the next beginning is that of a new burst.
 *
 * <p>A checkpoint is whatever makes an instance flush; a binding that sees the flushes only reports
 * these. No clock inside. Not safe for use by several threads.
 */
public final class BurstGate {
    /** One instance's part in the bursts. Guarded as the gate. */
    public static final class Member {
        /** The burst that {@link #checkpoints} are part of. */
        private long burst;

        /** Those of this instance that are under way. */
        private int checkpoints;
    }

    private final BurstDelay delay;
    private final long limitNanos;

    private long burst;

    /** Checkpoints of the latest burst that are under way. */
    private int open;

    private long beganNanos;
    private long untilNanos;

    /**
     * @param delay how long to hold after the end of a burst
     * @param limitNanos the longest hold, from the beginning of the burst
     */
    public BurstGate(BurstDelay delay, long limitNanos) {
        this.delay = delay;
        this.limitNanos = limitNanos;
    }

    /** A gate that holds no longer than the deadline, and not at all if there is to be no pause. */
    static BurstGate of(MaintenanceSettings settings, BurstDelay delay) {
        return new BurstGate(delay, settings.maxPauseNanos() == 0 ? 0 : settings.deadlineNanos());
    }

    /** A checkpoint of the instance begins; true if that changed {@link #endOfHold}. */
    public boolean began(Member member, long nowNanos) {
        if (!isHolding(nowNanos)) {
            burst++;
            open = 0;
            beganNanos = nowNanos;
        }
        boolean isFirst = open == 0;
        if (isFirst) {
            untilNanos = beganNanos + limitNanos;
        }
        if (member.burst != burst) {
            member.burst = burst;
            member.checkpoints = 0;
        }
        member.checkpoints++;
        open++;
        return isFirst;
    }

    /**
     * A checkpoint of the instance has ended; true if that changed {@link #endOfHold}. Ignored if
     * it did not begin, or belongs to a burst that was given up.
     */
    public boolean ended(Member member, long nowNanos) {
        return ended(member, Math.min(1, member.checkpoints), nowNanos);
    }

    /** All checkpoints of the instance have ended. */
    public boolean allEnded(Member member, long nowNanos) {
        return ended(member, member.checkpoints, nowNanos);
    }

    private boolean ended(Member member, int checkpoints, long nowNanos) {
        if (checkpoints == 0 || member.burst != burst) {
            return false;
        }
        member.checkpoints -= checkpoints;
        open -= checkpoints;
        if (open > 0 || !isHolding(nowNanos)) {
            return false;
        }
        long length = nowNanos - beganNanos;
        untilNanos = nowNanos + Math.min(delay.delayNanos(length), limitNanos - length);
        return true;
    }

    /** Whether a burst or its delay is under way. */
    public boolean isHolding(long nowNanos) {
        return burst > 0 && nowNanos - untilNanos < 0;
    }

    /** The number of the latest burst, from 1; 0 before the first. */
    public long burst() {
        return burst;
    }

    /** When tasks of that moment may begin: the end of the hold, or at once. */
    public long endOfHold(long momentNanos) {
        return isHolding(momentNanos) ? untilNanos : momentNanos;
    }
}
