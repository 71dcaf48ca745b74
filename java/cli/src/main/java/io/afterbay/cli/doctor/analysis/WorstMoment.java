package io.afterbay.cli.doctor.analysis;

import org.jspecify.annotations.Nullable;

/**
 * One of the slots in which the most happened.
 *
 * @param micros when the most compactions ran
 * @param compactions at once, at the most within the slot
 * @param instances that compacted at once
 * @param flushes at once
 * @param lastsMicros how long compactions ran in the slot
 * @param latencyMs the worst in the slot; null without a latency log
 */
public record WorstMoment(
        long micros,
        int compactions,
        int instances,
        int flushes,
        long lastsMicros,
        @Nullable Double latencyMs) {}
