package io.afterbay.bench;

import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What happened when in one run's latency part (for a foreign job: in its counted part). Times are
 * milliseconds since its start.
 *
 * @param windowMs width of the windows of the next two lists
 * @param latencyMaxMs worst latency of the results of each window, null where it had none
 * @param events events that entered the job in each window
 * @param percentiles the latency distribution, for a plot
 */
@JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
public record Timeline(
        String backend,
        int pair,
        int windowMs,
        List<@Nullable Double> latencyMaxMs,
        List<Long> events,
        List<Checkpoint> checkpoints,
        List<Sample> samples,
        List<Percentile> percentiles) {

    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Checkpoint(double startMs, double durationMs, @Nullable Double stateMb) {}

    /** Memory and disk at one moment. */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Sample(double atMs, double rssMb, double diskMb) {}

    /** {@code percent} of the latencies, such as 99.9, are at most {@code ms}. */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Percentile(double percent, double ms) {}
}
