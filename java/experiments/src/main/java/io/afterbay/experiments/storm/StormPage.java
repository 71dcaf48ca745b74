package io.afterbay.experiments.storm;

import io.afterbay.bench.Aim;
import io.afterbay.bench.MeasuredValue;
import io.afterbay.bench.Numbers;
import io.afterbay.bench.Ratio;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.bench.ResultsPage;
import io.afterbay.bench.TrialHistory;
import io.afterbay.bench.TrialPage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The tables about slow tasks and long queues on Storm, in Markdown, with what is aimed at and
 * whether it is met (Du &amp; Gupta 2016, section 5).
 */
public final class StormPage extends TrialPage<StormPage.Kind, StormTrial> {
    private static final String SHARED = "shared";
    private static final String BALANCED = "balanced";

    /** Storm's grouping with queues so short that it sees their load. */
    private static final String SHORT_QUEUES = "load-aware-64";

    /** Storm as it is; replays are what it does, and more. */
    private static final String DEFAULT = "load-aware";

    private static final String REPLAY = "replay";

    private static final List<String> BASELINES =
            List.of("shuffle", DEFAULT, SHORT_QUEUES, "algorithm-2", "jitter");

    /** In several workers, with and without Storm's locality. */
    private static final List<String> BASELINES_OF_WORKERS =
            Stream.concat(
                            BASELINES.stream(),
                            Stream.of("load-aware-anywhere", "load-aware-64-anywhere"))
                    .toList();

    private static final List<String> ORDER =
            Stream.of(StormVariant.values()).map(StormVariant::label).toList();

    private static final String COMMAND = "./afterbay bench storm";
    private static final String SLOW = "one task 3x slower for a while";

    /** From it on, queues matter. */
    private static final int HIGH_UTILISATION_PERCENT = 75;

    private static final double AIM_SHARED = 0.5;
    private static final double AIM_BALANCED = 0.3;
    private static final double AIM_OTHERS = 1;
    private static final double AIM_SHIFT_S = 10;
    private static final double AIM_BACK_S = 30;
    private static final double AIM_THROUGHPUT = 0.98;
    private static final double AIM_REPLAY = 1.05;

    /** Cells whose workers have not the same to do, or to do it with (the paper, table 3). */
    private static final List<String> UNLIKE_WORKERS =
            Stream.of(
                            StormCell.UNEVEN,
                            StormCell.BESIDE,
                            StormCell.BESIDE_CGROUP,
                            StormCell.MIXED,
                            StormCell.MIXED_CGROUP)
                    .map(StormCell::label)
                    .toList();

    /** Seconds after a change of the slow task's speed that are shown. */
    private static final List<Integer> SHOWN_S = List.of(1, 2, 3, 5, 10, 20, 30);

    static final MeasuredValue<StormTrial> P99 = run -> run.latency().p99Ms();
    static final MeasuredValue<StormTrial> P999 = run -> run.latency().p999Ms();
    private static final MeasuredValue<StormTrial> PER_S = run -> run.latency().perS();

    /** Runs of one kind; compared with those of baselines, which differ in the variant only. */
    record Kind(StormPlace place, String variant) {
        static final Comparator<Kind> COMPARATOR =
                Comparator.comparing(Kind::place, StormPlace.COMPARATOR)
                        .thenComparing(kind -> ORDER.indexOf(kind.variant));

        static Kind of(StormTrial trial) {
            return new Kind(StormPlace.of(trial.setting()), trial.setting().variant());
        }

        private Kind as(String other) {
            return new Kind(place, other);
        }

        private boolean isShared() {
            return variant.equals(SHARED);
        }

        private boolean isBalanced() {
            return variant.equals(BALANCED);
        }

        private boolean isSharedAndLoaded() {
            return isShared()
                    && !place.hasSlowTask()
                    && place.utilisationPercent() >= HIGH_UTILISATION_PERCENT;
        }

        private boolean isReplay() {
            return variant.equals(REPLAY);
        }

        private boolean isReplayWithRoom() {
            return isReplay() && !place.hasBusyQueues() && place.busyPercent() == 0;
        }

        private boolean isBalancedAmongUnlikeWorkers() {
            return isBalanced() && UNLIKE_WORKERS.contains(place.cell());
        }

        private boolean isBalancedAndSlow() {
            return isBalanced() && place.hasSlowTask();
        }

        private boolean isAtTheLimit() {
            return (isShared() || isBalanced()) && place.isAtTheLimit();
        }

        private String text() {
            return variant + ", " + place.text();
        }
    }

    private final StormWaits waits;

    public StormPage(List<RecordedTrial<StormTrial>> recorded) {
        super(recorded, Kind::of, Kind.COMPARATOR);
        waits = new StormWaits(recorded);
    }

    public static List<RecordedTrial<StormTrial>> read(Path directory) throws IOException {
        return read(directory, "storm", StormTrial.class);
    }

    @Override
    public List<Aim> aims() {
        return List.of(
                faster(
                        "P99 of the latency on Storm at 75 % load and more, shared queue to the load-aware shuffle with queues of 64",
                        AIM_SHARED, P99, Kind::isSharedAndLoaded, List.of(SHORT_QUEUES)),
                faster(
                        "P99.9 of the latency on Storm at 75 % load and more, shared queue to the load-aware shuffle with queues of 64",
                        AIM_SHARED, P999, Kind::isSharedAndLoaded, List.of(SHORT_QUEUES)),
                faster(
                                "P99 of the latency on Storm, "
                                        + SLOW
                                        + ", balanced to the load-aware shuffle with queues of 64",
                                AIM_BALANCED,
                                P99,
                                Kind::isBalancedAndSlow,
                                List.of(SHORT_QUEUES))
                        .asHeadline(),
                faster(
                        "P99 of the latency on Storm, "
                                + SLOW
                                + ", balanced to each other baseline",
                        AIM_OTHERS,
                        P99,
                        Kind::isBalancedAndSlow,
                        BASELINES.stream().filter(one -> !one.equals(SHORT_QUEUES)).toList()),
                faster(
                        "P99 of the latency on Storm, workers that are not alike, balanced to each baseline",
                        AIM_OTHERS,
                        P99,
                        Kind::isBalancedAmongUnlikeWorkers,
                        BASELINES_OF_WORKERS),
                seconds(
                        "time until nine tenths of what a slow task on Storm loses are lost, balanced",
                        AIM_SHIFT_S,
                        run -> run.shares().shiftS()),
                seconds(
                        "time until nine tenths of it are back after its recovery, balanced",
                        AIM_BACK_S,
                        run -> run.shares().backS()),
                throughput(),
                faster(
                        "P99 of the latency on Storm, replays to the load-aware shuffle",
                        AIM_REPLAY,
                        P99,
                        Kind::isReplay,
                        List.of(DEFAULT)),
                replayed());
    }

    /** Of runs in which nothing was replayed, the ratio is of something else. */
    private Aim replayed() {
        MeasuredValue<StormTrial> figure =
                run ->
                        run.setting().variant().equals(REPLAY) && !hasReplays(run)
                                ? null
                                : P99.of(run);
        Aim aim =
                faster(
                        "P99 of the latency on Storm, replays to the load-aware shuffle, queues below 58 % and nothing beside",
                        AIM_OTHERS, figure, Kind::isReplayWithRoom, List.of(DEFAULT));
        Stream<String> without =
                kinds().filter(Kind::isReplayWithRoom)
                        .filter(kind -> values(kind, P99).length > 0)
                        .filter(kind -> values(kind, figure).length == 0)
                        .map(kind -> kind.place.text() + " (nothing was replayed)");
        return aim.butNotIn(Stream.concat(aim.untold().stream(), without).toList());
    }

    private static boolean hasReplays(StormTrial run) {
        Long replays = run.repeats().sentTwice();
        return replays != null && replays > 0;
    }

    /** Baselines that were not run beside ours are named, and count for nothing. */
    private Aim faster(
            String measure,
            double bound,
            MeasuredValue<StormTrial> figure,
            Predicate<Kind> counts,
            List<String> baselines) {
        List<Against> all = against(counts, baselines);
        return new Aim(
                        measure,
                        "%s: at most %sx".formatted(measure, bound),
                        false,
                        bound,
                        "x",
                        all.stream()
                                .flatMap(one -> value(one, one.text(baselines.size()), figure))
                                .toList(),
                        COMMAND)
                .butNotIn(missing(all, figure));
    }

    /** Ours beside a baseline. */
    private record Against(Kind kind, String baseline) {
        Kind other() {
            return kind.as(baseline);
        }

        private String text(int baselines) {
            return baselines == 1 ? kind.place.text() : kind.place.text() + ", to " + baseline;
        }
    }

    private List<Against> against(Predicate<Kind> counts, List<String> baselines) {
        return kinds().filter(counts)
                .flatMap(kind -> baselines.stream().map(one -> new Against(kind, one)))
                .toList();
    }

    private Stream<Aim.Value> value(Against one, String text, MeasuredValue<StormTrial> figure) {
        return value(one.kind, text, ratios(one.kind, one.other(), figure));
    }

    /** Settings where ours has figures and baselines have none in the same rounds, with these. */
    private List<String> missing(List<Against> all, MeasuredValue<StormTrial> figure) {
        Map<String, Set<String>> baselines = new LinkedHashMap<>();
        all.stream()
                .filter(one -> values(one.kind, figure).length > 0)
                .filter(one -> ratios(one.kind, one.other(), figure).length == 0)
                .forEach(
                        one ->
                                baselines
                                        .computeIfAbsent(
                                                one.kind.place.text(), any -> new LinkedHashSet<>())
                                        .add(one.baseline));
        return baselines.entrySet().stream()
                .map(of -> of.getKey() + " (no run of " + String.join(", ", of.getValue()) + ")")
                .toList();
    }

    /** One that never shifted has no value, which the table of shares shows. */
    private Aim seconds(String measure, double bound, MeasuredValue<StormTrial> figure) {
        return new Aim(
                measure,
                "%s: at most %.0f s".formatted(measure, bound),
                false,
                bound,
                " s",
                kinds().filter(Kind::isBalancedAndSlow)
                        .flatMap(kind -> value(kind, kind.place.text(), orNever(kind, figure)))
                        .toList(),
                COMMAND);
    }

    /** Of runs that count; never is longer than any bound. */
    private double[] orNever(Kind kind, MeasuredValue<StormTrial> figure) {
        return values(
                kind,
                run -> {
                    Double seconds = figure.of(run);
                    return seconds == null ? Double.valueOf(Double.POSITIVE_INFINITY) : seconds;
                });
    }

    private Aim throughput() {
        String measure =
                "throughput on Storm, overloaded or at 95 % load, shared or balanced to the load-aware shuffle with queues of 64";
        List<Against> all = against(Kind::isAtTheLimit, List.of(SHORT_QUEUES));
        return new Aim(
                        measure,
                        "%s: at least %sx".formatted(measure, AIM_THROUGHPUT),
                        true,
                        AIM_THROUGHPUT,
                        "x",
                        all.stream().flatMap(one -> value(one, one.kind.text(), PER_S)).toList(),
                        COMMAND)
                .butNotIn(missing(all, PER_S));
    }

    @Override
    protected Stream<String> tables() {
        return Stream.of(latencies(), waits.text(), tasks(), repeats(), series());
    }

    private String latencies() {
        List<String> header =
                List.of(
                        "setting",
                        "variant",
                        "P50, ms",
                        "P90, ms",
                        "P95, ms",
                        "P99, ms",
                        "P99.9, ms",
                        "max, ms",
                        "P99 to load-aware-64",
                        "P99.9 to load-aware-64",
                        "tuples/s",
                        "each acked once",
                        "CPU us/tuple");
        return "Latency of the counted tuples, from when each was due to its ack; with a slow task, of all"
                + " that were due while it was slow. Median of the runs [lowest..highest], median of"
                + " the ratios of pairs:\n\n"
                + table(kinds(), header, this::latency);
    }

    private List<String> latency(Kind kind) {
        return List.of(
                kind.place.text(),
                kind.variant,
                range(kind, run -> run.latency().p50Ms()),
                range(kind, run -> run.latency().p90Ms()),
                range(kind, run -> run.latency().p95Ms()),
                range(kind, P99),
                range(kind, P999),
                range(kind, run -> run.latency().maxMs()),
                toShortQueues(kind, P99),
                toShortQueues(kind, P999),
                range(kind, PER_S),
                TrialHistory.counts(of(kind).stream().map(run -> run.outcome().isRight())),
                range(kind, run -> run.latency().cpuUsPerTuple()));
    }

    private String toShortQueues(Kind kind, MeasuredValue<StormTrial> figure) {
        return kind.variant.equals(SHORT_QUEUES)
                ? ResultsPage.MISSING
                : ratio(ratios(kind, kind.as(SHORT_QUEUES), figure));
    }

    private String tasks() {
        List<String> header =
                List.of(
                        "setting",
                        "variant",
                        "first task, %",
                        "tuples/s of each task of the first bolt",
                        "done by another task, %",
                        "nine tenths lost after, s",
                        "nine tenths back after, s");
        return "Who did the counted tuples: the share of the first task, which is the slow one if there is"
                + " one; what another task did than the one that Storm sent it to; and how fast the"
                + " slow task's share followed its speed:\n\n"
                + table(kinds(), header, this::tasks);
    }

    private List<String> tasks(Kind kind) {
        return List.of(
                kind.place.text(),
                kind.variant,
                range(kind, run -> run.shares().firstTaskPercent()),
                perTask(kind),
                range(kind, run -> run.shares().movedPercent()),
                range(kind, run -> run.shares().shiftS()),
                range(kind, run -> run.shares().backS()));
    }

    /** Of the first run. */
    private String perTask(Kind kind) {
        return of(kind).stream()
                .flatMap(run -> Stream.ofNullable(run.shares().perTaskPerS()))
                .findFirst()
                .map(
                        bolts ->
                                String.join(
                                        ", ", bolts.get(0).stream().map(Numbers::format).toList()))
                .orElse(ResultsPage.MISSING);
    }

    private String repeats() {
        List<String> header =
                List.of(
                        "setting",
                        "variant",
                        "sent twice",
                        "second was first",
                        "extra work, %",
                        "P99 to load-aware",
                        "P99.9 to load-aware",
                        "budget closed, %",
                        "queues, %",
                        "processors, %");
        List<Kind> twice = kinds().filter(this::mayBeSentTwice).toList();
        return twice.isEmpty()
                ? ""
                : "What was sent twice, of all tuples, and what tasks did more for it (the paper's cost); for how"
                        + " much of the time nothing was to be replayed; and how busy the busiest bolt"
                        + " and the processors were, while that was so, or if it never was, at all:\n\n"
                        + table(twice.stream(), header, this::repeats);
    }

    /** A budget that was closed all the time is to be seen. */
    private boolean mayBeSentTwice(Kind kind) {
        StormVariant variant = StormVariant.named(kind.variant);
        return variant.replays() || variant.blindPercent() > 0;
    }

    private List<String> repeats(Kind kind) {
        return List.of(
                kind.place.text(),
                kind.variant,
                range(kind, run -> toDouble(run.repeats().sentTwice())),
                range(kind, run -> toDouble(run.repeats().secondWasFirst())),
                range(kind, run -> run.repeats().extraWorkPercent()),
                ratio(ratios(kind, kind.as(DEFAULT), P99)),
                ratio(ratios(kind, kind.as(DEFAULT), P999)),
                range(kind, run -> run.repeats().budgetClosedPercent()),
                range(kind, run -> run.repeats().queuesPercent()),
                range(kind, run -> run.repeats().processorsPercent()));
    }

    private static @Nullable Double toDouble(@Nullable Long count) {
        return count == null ? null : Double.valueOf(count);
    }

    private String series() {
        List<String> header = new ArrayList<>(List.of("setting", "variant", "before"));
        SHOWN_S.forEach(second -> header.add("slow for %d s".formatted(second)));
        SHOWN_S.forEach(second -> header.add("recovered for %d s".formatted(second)));
        List<Kind> slow = kinds().filter(kind -> kind.place.hasSlowTask()).toList();
        return slow.isEmpty()
                ? ""
                : "The slow task's share of the tuples in percent, by second (the last second of that time),"
                        + " median of the runs:\n\n"
                        + table(slow.stream(), header, this::series);
    }

    private List<String> series(Kind kind) {
        List<String> row = new ArrayList<>(List.of(kind.place.text(), kind.variant));
        row.add(share(kind, run -> before(run.shares())));
        SHOWN_S.forEach(second -> row.add(share(kind, run -> within(run.shares(), second))));
        SHOWN_S.forEach(second -> row.add(share(kind, run -> behind(run.shares(), second))));
        return row;
    }

    private String share(Kind kind, MeasuredValue<StormTrial> figure) {
        double[] all =
                of(kind).stream()
                        .flatMap(run -> Stream.ofNullable(figure.of(run)))
                        .mapToDouble(Double::doubleValue)
                        .toArray();
        return all.length == 0 ? ResultsPage.MISSING : Numbers.format(Ratio.median(all));
    }

    private static @Nullable Double before(StormTrial.Shares of) {
        List<Double> all = of.firstTaskPercentBySecond();
        if (all == null || of.slowFromS() == null) {
            return null;
        }
        int from = of.slowFromS().intValue();
        return IntStream.range(from / 2, from).mapToDouble(all::get).average().stream()
                .boxed()
                .findFirst()
                .orElse(null);
    }

    /** In that second of the time in which it is slow. */
    private static @Nullable Double within(StormTrial.Shares of, int second) {
        return of.slowFromS() == null || of.slowUntilS() == null
                ? null
                : share(of, (int) Math.ceil(of.slowFromS()) + second - 1, of.slowUntilS());
    }

    /** In that second of the time behind. */
    private static @Nullable Double behind(StormTrial.Shares of, int second) {
        return of.slowUntilS() == null
                ? null
                : share(of, (int) Math.ceil(of.slowUntilS()) + second - 1, Double.MAX_VALUE);
    }

    private static @Nullable Double share(StormTrial.Shares of, int second, double end) {
        List<Double> all = of.firstTaskPercentBySecond();
        return all == null || second >= Math.min(end, all.size()) ? null : all.get(second);
    }
}
