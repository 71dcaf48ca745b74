package io.afterbay.doctor.analysis;

import org.jspecify.annotations.Nullable;

/**
 * One of the slots in which the most happened. With a latency log it is about the window with the
 * worst latency: what ran while its events waited, that is from so long before the window to so
 * long after it. Without one, about the time of the most compactions.
 *
 * @param micros when that was
 * @param compactions at once, at the most
 * @param instances that compacted at once
 * @param flushes at once
 * @param lastsMicros how long compactions ran in the slot
 * @param latencyMs null without a latency log
 * @param gcPauseMs how long the garbage collector had stopped the program; null without its log
 * @param cpu the part of all processors that was busy, 0 to 1; null if it is not known
 * @param queue events that waited; null if it is not known
 */
public record WorstMoment(
        long micros,
        int compactions,
        int instances,
        int flushes,
        long lastsMicros,
        @Nullable Double latencyMs,
        @Nullable Double gcPauseMs,
        @Nullable Double cpu,
        @Nullable Double queue) {
    /** Whether pauses of the garbage collector explain half of the latency or more. */
    public boolean isGcPause() {
        Double latency = latencyMs;
        Double pause = gcPauseMs;
        return latency != null && pause != null && pause > 0 && 2 * pause >= latency;
    }
}
