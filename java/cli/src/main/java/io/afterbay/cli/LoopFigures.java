package io.afterbay.cli;

import org.jspecify.annotations.Nullable;

/**
 * What a job cost between two moments.
 *
 * @param taskCpuUsPerEvent see {@link ThreadTimes#taskNanos}
 * @param backgroundCpuUsPerEvent see {@link ThreadTimes#backgroundNanos}
 * @param writtenMb null where the system does not tell
 */
record LoopFigures(
        double eventsPerS,
        double cpuUsPerEvent,
        double taskCpuUsPerEvent,
        double backgroundCpuUsPerEvent,
        @Nullable Double writtenMb,
        double gcMs) {}
