package io.afterbay.experiments.replay;

import io.afterbay.bench.Aim;
import io.afterbay.bench.MeasuredValue;
import io.afterbay.bench.Numbers;
import io.afterbay.bench.Ratio;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.bench.TrialPage;
import io.afterbay.workloads.profiles.TrafficReport;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The tables about replays, in Markdown, with what is aimed at and whether it is met. */
public final class ReplayPage extends TrialPage<ReplayPage.Kind, ReplayTrial> {
    private static final String COMMAND = "./afterbay bench replay --pairs 3";
    private static final double AIM_P99 = 1.1;
    private static final double AIM_P999 = 1.5;
    private static final double AIM_ADAPTIVE = 0.8;

    /** Runs of one kind. */
    record Kind(int livePercent, String variant, double replayRatePerS) {
        private static final Comparator<Kind> ORDER =
                Comparator.comparingInt(Kind::livePercent)
                        .thenComparing(Kind::order)
                        .thenComparing(Kind::replayRatePerS);

        private static Kind of(ReplayTrial trial) {
            Double rate = trial.replayRatePerS();
            return new Kind(trial.livePercent(), trial.variant(), rate == null ? 0 : rate);
        }

        /** As they are in {@link ReplayVariant}, behind the search. */
        private int order() {
            return isSearch() ? -1 : way().ordinal();
        }

        private boolean isSearch() {
            return variant.equals(ReplayTrial.MAXIMUM);
        }

        private ReplayVariant way() {
            return ReplayVariant.named(variant);
        }

        private boolean isAimedAt() {
            return isFixed() || isAdaptive();
        }

        private boolean isFixed() {
            return !isSearch() && way() == ReplayVariant.FIXED;
        }

        private boolean isAdaptive() {
            return !isSearch() && way() == ReplayVariant.ADAPTIVE;
        }

        private String live() {
            return livePercent == 0 ? "given" : livePercent + " %";
        }

        private String name() {
            return replayRatePerS == 0
                    ? variant
                    : variant + " " + Numbers.format(replayRatePerS) + "/s";
        }

        private String setting() {
            return "live at %s, %s".formatted(live(), name());
        }
    }

    public ReplayPage(List<RecordedTrial<ReplayTrial>> recorded) {
        super(recorded, Kind::of, Kind.ORDER);
    }

    public static List<RecordedTrial<ReplayTrial>> read(Path directory) throws IOException {
        return read(directory, "replay", ReplayTrial.class);
    }

    @Override
    public List<Aim> aims() {
        return List.of(
                aim(
                                "P99 of a live job during a throttled replay, to its own before",
                                "the live job's P99 is at most 1.1x of its own before",
                                AIM_P99,
                                Kind::isAimedAt,
                                ReplayPage::p99Ratio)
                        .asHeadline(),
                aim(
                        "P99.9 of a live job during a throttled replay, to its own before",
                        "the live job's P99.9 is at most 1.5x of its own before",
                        AIM_P999,
                        Kind::isAimedAt,
                        ReplayPage::p999Ratio),
                adaptive(),
                aim(
                        "wrong rows of the table after a replay",
                        "no row of the table is wrong",
                        0,
                        kind -> !kind.isSearch() && kind.way().isMerged(),
                        run -> number(run.wrong())));
    }

    private Aim aim(
            String measure,
            String goal,
            double bound,
            Predicate<Kind> kinds,
            MeasuredValue<ReplayTrial> value) {
        List<Aim.Value> values =
                kinds().filter(kinds)
                        .flatMap(kind -> value(kind, kind.setting(), values(kind, value)))
                        .toList();
        String typed = commands(kinds().filter(kinds));
        return new Aim(
                measure,
                goal,
                false,
                bound,
                bound == 0 ? "" : "x",
                values,
                typed.isEmpty() ? COMMAND : typed);
    }

    private static @Nullable Double p99Ratio(ReplayTrial run) {
        return ratio(run, TrafficReport.Phase::p99Ms);
    }

    private static @Nullable Double p999Ratio(ReplayTrial run) {
        return ratio(run, TrafficReport.Phase::p999Ms);
    }

    private Aim adaptive() {
        List<Kind> kinds = kinds().filter(Kind::isAdaptive).toList();
        List<Aim.Value> values =
                kinds.stream()
                        .flatMap(
                                kind ->
                                        value(
                                                kind,
                                                kind.setting(),
                                                values(kind, run -> share(run, best(kind)))))
                        .toList();
        String typed = commands(kinds.stream());
        return new Aim(
                "records/s of an adaptive replay, to those of the best fixed rate that leaves the live job in peace",
                "an adaptive replay is at least 0.8x as fast as the best fixed rate with which the live job keeps both",
                true,
                AIM_ADAPTIVE,
                "x",
                values,
                typed.isEmpty() ? COMMAND : typed);
    }

    private static @Nullable Double share(ReplayTrial run, double best) {
        Double perS = run.replayedPerS();
        return perS == null || best == 0 ? null : perS / best;
    }

    /**
     * Of fixed rates beside the same live job, of the same code; 0 if none leaves it in peace. A
     * rate that was not kept is none.
     */
    private double best(Kind adaptive) {
        return kinds().filter(kind -> kind.isFixed() && kind.livePercent == adaptive.livePercent)
                .map(
                        kind ->
                                ofSameRevision(adaptive, kind).stream()
                                        .filter(ReplayPage::keptItsRate)
                                        .toList())
                .filter(runs -> keep(runs, ReplayPage::p99Ratio, AIM_P99))
                .filter(runs -> keep(runs, ReplayPage::p999Ratio, AIM_P999))
                .mapToDouble(runs -> Ratio.median(figures(runs, ReplayTrial::replayedPerS)))
                .max()
                .orElse(0);
    }

    private static boolean keptItsRate(ReplayTrial run) {
        Double asked = run.replayRatePerS();
        Double got = run.replayedPerS();
        return asked != null && got != null && ReplayKind.isNear(got, asked);
    }

    private static boolean keep(
            List<ReplayTrial> runs, MeasuredValue<ReplayTrial> ratio, double bound) {
        double[] found = figures(runs, ratio);
        return found.length > 0 && Ratio.median(found) <= bound;
    }

    private static double[] figures(List<ReplayTrial> runs, MeasuredValue<ReplayTrial> figure) {
        return runs.stream()
                .map(figure::of)
                .filter(Objects::nonNull)
                .mapToDouble(Double::doubleValue)
                .toArray();
    }

    /** The start of its process and its end are in it, whichever way it is. */
    private static @Nullable Double pastPerS(ReplayTrial run) {
        Long past = run.past();
        TrafficReport.Phase during = run.during();
        return past == null || run.replayedPerS() == null || during == null || during.seconds() == 0
                ? null
                : past / during.seconds();
    }

    private static @Nullable Double ratio(
            ReplayTrial run, MeasuredValue<TrafficReport.Phase> figure) {
        TrafficReport.Phase before = run.before();
        TrafficReport.Phase during = run.during();
        if (before == null || during == null) {
            return null;
        }
        Double least = figure.of(before);
        Double then = figure.of(during);
        return least == null || then == null || least == 0 ? null : then / least;
    }

    @Override
    protected Stream<String> tables() {
        List<String> header =
                List.of(
                        "live",
                        "replay",
                        "live/s",
                        "P50 ms before",
                        "during",
                        "P99 ms before",
                        "during",
                        "after",
                        "P99 during / before",
                        "P99.9 ms before",
                        "during",
                        "P99.9 during / before",
                        "replayed/s",
                        "with start and end, replayed/s",
                        "conflicts",
                        "wrong rows",
                        "stale rows");
        return Stream.of(
                "%s, latency from when a profile was due to when its title was read, median of the runs [lowest..highest]:\n\n"
                                .formatted(highest())
                        + table(kinds().filter(kind -> !kind.isSearch()), header, this::row));
    }

    private String highest() {
        double[] found =
                kinds().filter(Kind::isSearch)
                        .flatMapToDouble(kind -> Arrays.stream(values(kind, ReplayTrial::maxPerS)))
                        .toArray();
        return found.length == 0
                ? "At given rates"
                : "Of the highest rate, which each command finds first (the last: %s profiles a second)"
                        .formatted(Numbers.format(Ratio.median(found)));
    }

    private List<String> row(Kind kind) {
        return List.of(
                kind.live(),
                "`" + kind.name() + "`",
                range(kind, ReplayTrial::liveRatePerS),
                phase(kind, ReplayTrial::before, TrafficReport.Phase::p50Ms),
                phase(kind, ReplayTrial::during, TrafficReport.Phase::p50Ms),
                phase(kind, ReplayTrial::before, TrafficReport.Phase::p99Ms),
                phase(kind, ReplayTrial::during, TrafficReport.Phase::p99Ms),
                phase(kind, ReplayTrial::after, TrafficReport.Phase::p99Ms),
                ratio(values(kind, run -> ratio(run, TrafficReport.Phase::p99Ms))),
                phase(kind, ReplayTrial::before, TrafficReport.Phase::p999Ms),
                phase(kind, ReplayTrial::during, TrafficReport.Phase::p999Ms),
                ratio(values(kind, run -> ratio(run, TrafficReport.Phase::p999Ms))),
                range(kind, ReplayTrial::replayedPerS),
                range(kind, ReplayPage::pastPerS),
                range(kind, run -> number(run.conflicts())),
                range(kind, run -> number(run.wrong())),
                range(kind, run -> number(run.stale())));
    }

    private String phase(
            Kind kind,
            Function<ReplayTrial, TrafficReport.@Nullable Phase> phase,
            MeasuredValue<TrafficReport.Phase> figure) {
        return range(
                kind,
                run -> {
                    TrafficReport.Phase of = phase.apply(run);
                    return of == null ? null : figure.of(of);
                });
    }

    private static @Nullable Double number(@Nullable Number count) {
        return count == null ? null : count.doubleValue();
    }
}
