package io.afterbay.doctor.analysis;

import io.afterbay.maintenance.ConcurrencyKnee;
import org.jspecify.annotations.Nullable;

/**
 * What the latency log says, as far as its windows lie within the time of the logs.
 *
 * @param windows how many
 * @param windowMicros how long each is
 * @param medianMs of the windows' latencies, as are all figures here: the worst of each window, or
 *     what else the log has
 * @param longestMs of all
 * @param togetherP99Ms of windows in which two or more instances compact; null without any
 * @param otherP99Ms of the other windows; null without any
 * @param settleMicros from the end of a burst of flushes until latency is below twice its median,
 *     90th percentile; 0 without bursts
 * @param slow windows far above the median, and what ran beside them
 * @param threads the knee over the compactions at once; too little data if windows are longer than
 *     those of the paper
 */
public record LatencyEffect(
        int windows,
        long windowMicros,
        double medianMs,
        double longestMs,
        @Nullable Double togetherP99Ms,
        @Nullable Double otherP99Ms,
        long settleMicros,
        SlowWindows slow,
        ConcurrencyKnee.Recommendation threads) {}
