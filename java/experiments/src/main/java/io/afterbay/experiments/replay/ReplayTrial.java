package io.afterbay.experiments.replay;

import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.afterbay.bench.Trial;
import io.afterbay.workloads.profiles.TrafficReport;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One run: a live job at a rate, and beside it the past in one of the ways; or the search for the
 * rate that can just be had.
 *
 * @param variant label of the way; "maximum" for the search
 * @param livePercent rate of the live job, of the maximum; 0 for the search, or if the rate was
 *     given
 * @param replayRatePerS what the replay was asked for; null for as fast as it goes
 * @param maxPerS what the search found
 * @param liveRatePerS profiles that are due in a second
 * @param past records of the past
 * @param replayedPerS records of the past in a second: of a replay from its first look at how far
 *     it is to its last; otherwise of all the time, with the start of the process
 * @param conflicts rows of the replay that a row of the live job won against
 * @param corrections rows that had to be written once more
 * @param members rows of the table
 * @param wrong rows of the table that are wrong at the end
 * @param stale rows that put an older profile over a newer one, for however short a time
 * @param before the replay
 * @param during it, from the start of its process to its end
 * @param after it
 * @param seconds the timeline
 */
@JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
public record ReplayTrial(
        String variant,
        int livePercent,
        @Nullable Double replayRatePerS,
        int pair,
        @Nullable String failure,
        @Nullable Double maxPerS,
        @Nullable Double liveRatePerS,
        @Nullable Long past,
        @Nullable Double replayedPerS,
        @Nullable Long conflicts,
        @Nullable Long corrections,
        @Nullable Integer members,
        @Nullable Integer wrong,
        @Nullable Long stale,
        TrafficReport.@Nullable Phase before,
        TrafficReport.@Nullable Phase during,
        TrafficReport.@Nullable Phase after,
        @Nullable List<TrafficReport.Second> seconds)
        implements Trial {

    /** Of the search for the rate. */
    static final String MAXIMUM = "maximum";

    /** A run without figures. */
    static ReplayTrial none(ReplayBenchPlan plan, @Nullable String failure) {
        return new ReplayTrial(
                plan.label(),
                plan.livePercent(),
                plan.replayRatePerS(),
                plan.pair(),
                failure,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null);
    }

    /** The same without figures, failed. */
    ReplayTrial failed(String reason) {
        return new ReplayTrial(
                variant,
                livePercent,
                replayRatePerS,
                pair,
                reason,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null);
    }

    boolean isSearch() {
        return variant.equals(MAXIMUM);
    }

    @Override
    public String backend() {
        return variant;
    }
}
