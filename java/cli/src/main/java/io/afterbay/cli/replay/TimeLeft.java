package io.afterbay.cli.replay;

import io.afterbay.replay.ReplayProgress;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How long a replay still takes: the records that are left, over those that come per second lately.
 * Nobody knows how many are left, so the rest of the range is taken to have them as densely as the
 * part that is done. How long that part took plays no role, so neither does a pause in it, nor
 * another rate.
 */
final class TimeLeft {
    /** The records in less of the range than that say nothing about the rest. */
    private static final double SHARE_MIN = 0.001;

    private static final double MS_PER_S = 1000;

    private TimeLeft() {}

    /**
     * @param sources of the replay, which share what comes per second; none if nothing is known
     * @return null if it is not known: one of them is at its beginning, or no records come
     */
    static @Nullable Duration of(ReplayPlan plan, List<ReplayProgress> sources) {
        double records = 0;
        double perSecond = 0;
        for (ReplayProgress source : sources) {
            if (!source.hasEnded()) {
                double share = ReplayReport.share(plan, source);
                if (share < SHARE_MIN) {
                    return null;
                }
                records += source.records() * (1 - share) / share;
                perSecond += source.recordsPerSecond();
            }
        }
        if (!sources.isEmpty() && sources.stream().allMatch(ReplayProgress::hasEnded)) {
            return Duration.ZERO;
        }
        return perSecond > 0 ? Duration.ofMillis((long) (records * MS_PER_S / perSecond)) : null;
    }
}
