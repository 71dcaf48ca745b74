package io.afterbay.cli.replay.live;

import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * How the live job is at one moment. What is not known is null.
 *
 * @param p99Ms of the latencies of Flink's markers lately, the largest of all operators' subtasks
 * @param lagRecords that its sources have yet to read
 * @param lagMs how old the records are that its sources read
 * @param perSecond records that leave its sources
 */
public record LiveSample(
        @Nullable Double p99Ms,
        @Nullable Double lagRecords,
        @Nullable Double lagMs,
        @Nullable Double perSecond) {

    /** Whether it says anything about latency or lag. */
    public boolean saysSomething() {
        return p99Ms != null || lagRecords != null || lagMs != null;
    }

    /**
     * Of each figure the one in the middle, so that a single one that is far off does not count.
     */
    static LiveSample median(List<LiveSample> samples) {
        return new LiveSample(
                middle(samples, LiveSample::p99Ms),
                middle(samples, LiveSample::lagRecords),
                middle(samples, LiveSample::lagMs),
                middle(samples, LiveSample::perSecond));
    }

    /** Of each figure the largest one. */
    static LiveSample largest(List<LiveSample> samples) {
        return new LiveSample(
                last(samples, LiveSample::p99Ms),
                last(samples, LiveSample::lagRecords),
                last(samples, LiveSample::lagMs),
                last(samples, LiveSample::perSecond));
    }

    private static @Nullable Double middle(
            List<LiveSample> samples, Function<LiveSample, @Nullable Double> figure) {
        List<Double> sorted = sorted(samples, figure);
        return sorted.isEmpty() ? null : sorted.get(sorted.size() / 2);
    }

    private static @Nullable Double last(
            List<LiveSample> samples, Function<LiveSample, @Nullable Double> figure) {
        List<Double> sorted = sorted(samples, figure);
        return sorted.isEmpty() ? null : sorted.get(sorted.size() - 1);
    }

    private static List<Double> sorted(
            List<LiveSample> samples, Function<LiveSample, @Nullable Double> figure) {
        return samples.stream().map(figure).filter(Objects::nonNull).sorted().toList();
    }
}
