package io.afterbay.replay;

/**
 * How far a replay is.
 *
 * @param records that have passed since the start of the replay, over restores: what was undone by
 *     a failure and read again counts once
 * @param recordsPerSecond lately, over the last five seconds
 * @param reachedMs time up to which every subtask has read, the beginning of the range if one has
 *     read nothing yet, and its end if all have ended
 * @param hasEnded whether all of the range was read; the job may still be at work on it
 */
public record ReplayProgress(
        long records, double recordsPerSecond, long reachedMs, boolean hasEnded) {}
