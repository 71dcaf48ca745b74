package io.afterbay.cli.replay;

import io.afterbay.command.CommandFailure;
import java.time.Duration;
import java.time.Instant;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Notices that a replay at work makes no checkpoints any more, as on a full disk: a job goes on
 * without them for long, but what it has done since the newest one is lost when it ends, and sinks
 * that commit by checkpoints write nothing. For one thread.
 */
final class CheckpointWatch {
    /** Without them, some are missing and not only late. */
    private static final int INTERVALS_MAX = 10;

    private static final Duration LATE_MIN = Duration.ofMinutes(1);

    private final Duration late;
    private final String place;
    private final LongSupplier nanoClock;
    private long completed;
    private long sinceNanos;

    /** Of a replay whose process begins now. */
    static CheckpointWatch of(ReplayDirectory directory) throws CommandFailure {
        return new CheckpointWatch(
                Duration.ofMillis(directory.engine().checkpointIntervalMs()),
                directory.checkpointsUri(),
                System::nanoTime);
    }

    /**
     * @param interval between two of them
     * @param place where they are
     */
    CheckpointWatch(Duration interval, String place, LongSupplier nanoClock) {
        Duration many = interval.multipliedBy(INTERVALS_MAX);
        this.late = many.compareTo(LATE_MIN) < 0 ? LATE_MIN : many;
        this.place = place;
        this.nanoClock = nanoClock;
        this.sinceNanos = nanoClock.getAsLong();
    }

    /**
     * For the end of a progress line; nothing as long as they come.
     *
     * @param completedSoFar how many there were
     */
    String note(long completedSoFar) {
        long nowNanos = nanoClock.getAsLong();
        if (completedSoFar != completed) {
            completed = completedSoFar;
            sinceNanos = nowNanos;
        }
        return note(Duration.ofNanos(nowNanos - sinceNanos));
    }

    /**
     * The same for a replay at work in another process.
     *
     * @param begunMs when that process began, or later
     * @param newest the time of the newest one; null if there is none
     */
    String note(long begunMs, @Nullable Instant newest, Instant now) {
        Instant begun = Instant.ofEpochMilli(begunMs);
        Instant since = newest == null || newest.isBefore(begun) ? begun : newest;
        return note(Duration.between(since, now));
    }

    private String note(Duration without) {
        return without.compareTo(late) < 0
                ? ""
                : ", no checkpoint for %s: is there room in %s?"
                        .formatted(ReplayReport.text(without), place);
    }
}
