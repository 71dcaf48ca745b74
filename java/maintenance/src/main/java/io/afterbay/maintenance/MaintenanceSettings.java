package io.afterbay.maintenance;

import java.io.Serializable;

/**
 * How a {@link MaintenanceScheduler} works.
 *
 * @param threads tasks at once, of all kinds, 1 or more; for flushes the number of cores is a good
 *     choice (ShadowSync, section 4.2.1)
 * @param deferrableLimit deferrable tasks at once, from 1 to {@code threads}; best at the knee, see
 *     {@link ConcurrencyKnee}, and below {@code threads}, or else a flush may wait for one to end
 * @param periodNanos each instance may begin deferrable tasks at its own phase of this period; 0
 *     for at any time
 * @param maxPauseNanos the longest pause after a burst of checkpoints; 0 for none
 * @param deadlineNanos how long policy may hold a task back, above 0 and at least the period. Below
 *     the interval of checkpoints, or else the compactions of one meet the flushes of the next
 */
public record MaintenanceSettings(
        int threads, int deferrableLimit, long periodNanos, long maxPauseNanos, long deadlineNanos)
        implements Serializable {

    public MaintenanceSettings {
        if (threads < 1) {
            throw new IllegalArgumentException("threads must be 1 or more, not " + threads);
        }
        if (deferrableLimit < 1 || deferrableLimit > threads) {
            throw new IllegalArgumentException(
                    "the limit of deferrable tasks must be within 1.."
                            + threads
                            + " (threads), not "
                            + deferrableLimit);
        }
        if (periodNanos < 0 || maxPauseNanos < 0 || deadlineNanos < 1) {
            throw new IllegalArgumentException(
                    "period and pause must be 0 ns or more and the deadline above 0, not "
                            + periodNanos
                            + ", "
                            + maxPauseNanos
                            + " and "
                            + deadlineNanos);
        }
        if (periodNanos > deadlineNanos || maxPauseNanos > deadlineNanos) {
            throw new IllegalArgumentException(
                    "period ("
                            + periodNanos
                            + " ns) and pause ("
                            + maxPauseNanos
                            + " ns) must not exceed the deadline ("
                            + deadlineNanos
                            + " ns): it would undo them");
        }
    }

    /**
     * Settings for checkpoints at an interval: a pause of up to a quarter of it, phases over half
     * of it, and a deadline at three quarters.
     */
    public static MaintenanceSettings forCheckpoints(int threads, long intervalNanos) {
        return delayed(threads, Math.max(3, intervalNanos / 4 * 3));
    }

    /**
     * Settings for a longest delay, above 0: phases over two thirds of it, a pause of up to a
     * third. One thread is left to flushes where there are several.
     */
    public static MaintenanceSettings delayed(int threads, long deadlineNanos) {
        long third = deadlineNanos / 3;
        return new MaintenanceSettings(
                threads, Math.max(1, threads - 1), 2 * third, third, deadlineNanos);
    }

    /** Settings that hold nothing back: a pool of threads that takes instances in turns. */
    public static MaintenanceSettings undelayed(int threads) {
        return new MaintenanceSettings(threads, threads, 0, 0, Long.MAX_VALUE / 4);
    }
}
