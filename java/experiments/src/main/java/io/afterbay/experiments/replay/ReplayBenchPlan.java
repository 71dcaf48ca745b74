package io.afterbay.experiments.replay;

import io.afterbay.experiments.PlanWithoutEngine;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One run of the experiment about replays.
 *
 * @param variant label of a {@link ReplayVariant}, or {@link ReplayTrial#MAXIMUM}
 * @param livePercent rate of the live job, of what a search has found; 0 if the rate is given
 * @param liveRatePerS profiles that are due in a second; null until a search has found them
 * @param replayRatePerS what the replay is asked for; null for as fast as it goes
 * @param merges whether replays of ours are merged with the live job's rows
 * @param members of the network
 * @param past records of the past, the snapshot of all members among them
 * @param warmUpMs before anything counts
 * @param phaseMs how long it is measured before and after the replay
 */
record ReplayBenchPlan(
        String variant,
        int livePercent,
        @Nullable Double liveRatePerS,
        @Nullable Double replayRatePerS,
        int pair,
        boolean merges,
        long members,
        long past,
        long warmUpMs,
        long phaseMs)
        implements PlanWithoutEngine {

    boolean isSearch() {
        return variant.equals(ReplayTrial.MAXIMUM);
    }

    /** What runs; not of a search. */
    ReplayVariant way() {
        return ReplayVariant.named(variant);
    }

    String label() {
        return variant;
    }

    ReplayBenchPlan atRate(double perS) {
        return new ReplayBenchPlan(
                variant,
                livePercent,
                perS,
                replayRatePerS,
                pair,
                merges,
                members,
                past,
                warmUpMs,
                phaseMs);
    }

    @Override
    public String title() {
        return isSearch()
                ? "the highest rate"
                : String.format(
                        Locale.ROOT,
                        "live at %s, %s%s, pair %d",
                        livePercent == 0 ? "%,.0f/s".formatted(liveRatePerS) : livePercent + " %",
                        variant,
                        replayRatePerS == null ? "" : " %,.0f/s".formatted(replayRatePerS),
                        pair);
    }
}
