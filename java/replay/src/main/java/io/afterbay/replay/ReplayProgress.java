package io.afterbay.replay;

import java.util.List;
import java.util.Optional;

/**
 * How far a replay is, or one of its sources.
 *
 * @param records that have passed since the start of the replay, over restores: what was undone by
 *     a failure and read again counts once
 * @param recordsPerSecond lately: over the last five seconds, or since the rate was changed
 * @param reachedMs time up to which every subtask has read, the beginning of the range if one has
 *     read nothing yet, and its end if all have ended
 * @param hasEnded whether all of the range was read; the job may still be at work on it
 */
public record ReplayProgress(
        long records, double recordsPerSecond, long reachedMs, boolean hasEnded) {
    /** Of all sources together; empty if there is none. */
    public static Optional<ReplayProgress> of(List<ReplayProgress> sources) {
        return sources.stream().reduce(ReplayProgress::plus);
    }

    private ReplayProgress plus(ReplayProgress other) {
        return new ReplayProgress(
                records + other.records,
                recordsPerSecond + other.recordsPerSecond,
                Math.min(reachedMs, other.reachedMs),
                hasEnded && other.hasEnded);
    }
}
