package io.afterbay.cli.replay.live;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the live job may need while a replay runs beside it: {@value #FACTOR} times its own before,
 * and at least what its figures cannot tell apart. What was not known before is null, and plays no
 * part.
 *
 * @param p99Ms of the latencies of Flink's markers, which have whole milliseconds
 * @param lagRecords that its sources have yet to read
 * @param lagMs how old the records are that its sources read
 */
public record LiveBudget(
        @Nullable Double p99Ms, @Nullable Double lagRecords, @Nullable Double lagMs) {
    static final double FACTOR = 1.1;

    private static final double P99_STEP_MS = 1;

    /** Sources read in batches: as much as comes in a tenth of a second is not late. */
    private static final double LAG_STEP_MS = 100;

    /**
     * @param before what the live job was without the replay, at several moments; the largest
     *     figures count, or noise alone would leave the budget
     */
    public static LiveBudget of(List<LiveSample> before) {
        LiveSample own = LiveSample.largest(before);
        double perSecond = own.perSecond() == null ? 0 : own.perSecond();
        return new LiveBudget(
                budget(own.p99Ms(), P99_STEP_MS),
                budget(own.lagRecords(), perSecond * LAG_STEP_MS / 1000),
                budget(own.lagMs(), LAG_STEP_MS));
    }

    private static @Nullable Double budget(@Nullable Double own, double step) {
        return own == null ? null : Math.max(FACTOR * own, own + step);
    }

    /** The largest share of a budget that is used: more than 1 is out of it. */
    double strain(LiveSample sample) {
        return Math.max(
                share(sample.p99Ms(), p99Ms),
                Math.max(share(sample.lagRecords(), lagRecords), share(sample.lagMs(), lagMs)));
    }

    private static double share(@Nullable Double used, @Nullable Double budget) {
        return used == null || budget == null ? 0 : used / Math.max(budget, 1);
    }

    /** Which budget it leaves, in words; empty if none. */
    Optional<String> left(LiveSample sample) {
        if (share(sample.p99Ms(), p99Ms) > 1) {
            return Optional.of(
                    text("P99 of the live job is %,.0f ms of %,.0f", sample.p99Ms(), p99Ms));
        }
        if (share(sample.lagRecords(), lagRecords) > 1) {
            return Optional.of(
                    text(
                            "lag of the live job is %,.0f records of %,.0f",
                            sample.lagRecords(), lagRecords));
        }
        return share(sample.lagMs(), lagMs) > 1
                ? Optional.of(
                        text("lag of the live job is %,.0f ms of %,.0f", sample.lagMs(), lagMs))
                : Optional.empty();
    }

    private static String text(String form, @Nullable Double used, @Nullable Double budget) {
        return String.format(Locale.ROOT, form, used, budget);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        append(text, "P99 %,.0f ms", p99Ms);
        append(text, "lag %,.0f records", lagRecords);
        append(text, "lag %,.0f ms", lagMs);
        return text.toString();
    }

    private static void append(StringBuilder text, String form, @Nullable Double budget) {
        if (budget != null) {
            text.append(text.isEmpty() ? "" : ", ")
                    .append(String.format(Locale.ROOT, form, budget));
        }
    }
}
