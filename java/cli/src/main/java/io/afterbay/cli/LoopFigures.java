package io.afterbay.cli;

import org.jspecify.annotations.Nullable;

/**
 * What a job cost between two moments.
 *
 * @param writtenMb null where the system does not tell
 */
record LoopFigures(
        double eventsPerS, double cpuUsPerEvent, @Nullable Double writtenMb, double gcMs) {}
