package io.afterbay.maintenance;

/**
 * A task in a queue. Moments are those of a clock that may overflow, as {@link System#nanoTime}:
 * compare differences.
 */
final class Task {
    final Kind kind;
    final Runnable work;
    final long submittedNanos;
    final long deadlineNanos;

    /** When policy lets it begin; never after the deadline. */
    long dueNanos;

    Task(Kind kind, Runnable work, long submittedNanos, long deadlineNanos) {
        this.kind = kind;
        this.work = work;
        this.submittedNanos = submittedNanos;
        this.deadlineNanos = deadlineNanos;
        this.dueNanos = submittedNanos;
    }

    boolean isDue(long nowNanos) {
        return nowNanos - dueNanos >= 0;
    }

    boolean isOverdue(long nowNanos) {
        return nowNanos - deadlineNanos >= 0;
    }

    void makeDueAt(long nanos) {
        dueNanos = nanos - deadlineNanos < 0 ? nanos : deadlineNanos;
    }
}
