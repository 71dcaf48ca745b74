package io.afterbay.spark.workloads;

import io.afterbay.workloads.microbatch.MicroBatchPlan;
import io.afterbay.workloads.run.EpochClock;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Which records have come: those of the preload at once, and the others by a schedule, whatever the
 * query does (an open loop). The schedule begins when the batch of the preload has ended, so that
 * the start of the query takes nothing of it. All sources of a query have the same one, so that
 * both sides of a join get the same records in a batch. Safe for use by several threads.
 */
final class Pace {
    private static final Map<String, Pace> BY_NAME = new ConcurrentHashMap<>();
    private static final double MICROS_PER_S = 1e6;
    private static final double MICROS_PER_MS = 1e3;
    private static final long TICK_MILLIS = 5;

    private final long preload;
    private long records;
    private final int recordsPerS;
    private final long warmUpMicros;
    private final @Nullable Deadline deadline;
    private long beginMicros;
    private long releasedMicros;
    private long lastBatch;
    private long released;

    Pace(MicroBatchPlan plan) {
        this.preload = plan.preload();
        this.records = plan.records();
        this.recordsPerS = plan.recordsPerS();
        this.warmUpMicros = TimeUnit.MILLISECONDS.toMicros(plan.warmUpMs());
        this.deadline = plan.deadlineMs() == 0 ? null : new Deadline(plan.deadlineMs());
    }

    /** Makes it known to sources by a name. */
    static Pace register(String name, Pace pace) {
        BY_NAME.put(name, pace);
        return pace;
    }

    static Pace named(String name) {
        return Objects.requireNonNull(BY_NAME.get(name), name);
    }

    static void remove(String name) {
        BY_NAME.remove(name);
    }

    /**
     * Where a batch ends that begins there. Waits for a record; with a deadline, until it is time
     * to begin.
     *
     * @param start number of its first record
     */
    synchronized long end(long start) throws InterruptedException {
        if (start < released) {
            return released; // the other side of a join asked first, or a batch comes again
        }
        if (released == 0) {
            return release(preload);
        }
        ended();
        while (!isDue()) {
            wait(TICK_MILLIS);
        }
        return release(due());
    }

    private long release(long end) {
        lastBatch = end - released;
        released = end;
        releasedMicros = EpochClock.micros();
        return end;
    }

    /** Whoever asks for the next batch has done the one before. */
    private void ended() {
        if (beginMicros == 0) {
            beginMicros = EpochClock.micros();
        }
        if (deadline != null && lastBatch > 0) {
            deadline.ended(lastBatch, (EpochClock.micros() - releasedMicros) / MICROS_PER_MS);
        }
    }

    private boolean isDue() {
        long due = due();
        if (due == records || due == released) {
            return due == records;
        }
        double waitedMs = (EpochClock.micros() - dueMicros(released)) / MICROS_PER_MS;
        return deadline == null || deadline.isDue(waitedMs, due - released);
    }

    private long due() {
        double since = EpochClock.micros() - beginMicros;
        return Math.min(records, preload + (long) (since / MICROS_PER_S * recordsPerS));
    }

    /** When a record was due, in microseconds since the epoch. */
    synchronized double dueMicros(long number) {
        return beginMicros + Math.max(0, number - preload) * MICROS_PER_S / recordsPerS;
    }

    /** From when what happens counts; far away as long as the schedule has not begun. */
    synchronized long countsFromMicros() {
        return beginMicros == 0 ? Long.MAX_VALUE : beginMicros + warmUpMicros;
    }

    /** The clock of schedules. */
    static long micros() {
        return EpochClock.micros();
    }

    /** How many records have been asked for. */
    synchronized long released() {
        return released;
    }

    /** More records come, for so long from now on. */
    synchronized void goOn(long millis) {
        double since = EpochClock.micros() - beginMicros;
        double until = since + TimeUnit.MILLISECONDS.toMicros(millis);
        records = Math.max(records, preload + (long) (until / MICROS_PER_S * recordsPerS));
    }

    /** How many come in all, as far as that is known. */
    synchronized long records() {
        return records;
    }

    /** Whether all records are due. */
    synchronized boolean isOver() {
        return beginMicros != 0 && due() == records;
    }
}
