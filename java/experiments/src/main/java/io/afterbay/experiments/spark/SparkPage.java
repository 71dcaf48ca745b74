package io.afterbay.experiments.spark;

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
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The tables about micro-batches of Spark whose commits go on behind them, in Markdown, with what
 * is aimed at and whether it is met (MiSA, section 5).
 */
public final class SparkPage extends TrialPage<SparkPage.Kind, SparkTrial> {
    /** RocksDB's checkpoints are copied at the end of each batch: MiSA's baseline. */
    private static final String SNAPSHOT = "snapshot";

    /** Changelogs in format 2: the strongest that Spark has. */
    private static final String CHANGELOG = "changelog";

    private static final String STRICT = "strict";
    private static final String PIPELINED = "pipelined";

    private static final String STAGGERED = "-staggered";

    /** In a summary, from the default of Spark to all of ours. */
    private static final List<String> SUMMARY =
            List.of(
                    SNAPSHOT,
                    CHANGELOG,
                    STRICT,
                    STRICT + STAGGERED,
                    PIPELINED,
                    PIPELINED + STAGGERED);

    /** The run that has to be found wrong. */
    private static final String CONTROL = "control";

    private static final String SLOW = "slow";
    private static final String COMMAND = "./afterbay bench spark";
    private static final String TO_SNAPSHOT =
            "P99 of the batch time on a slow DFS, Spark's snapshot commits to ours";

    private static final double AIM_SNAPSHOT = 3;
    private static final double AIM_BEST = Math.nextUp(5.0);
    private static final double AIM_STRICT = 1.1;
    private static final double AIM_PIPELINED = 1.3;
    private static final double AIM_OVERHEAD_PERCENT = 5;
    private static final double AIM_SUSTAINED = 2;

    private static final MeasuredValue<SparkTrial> P99 = run -> run.times().p99Ms();
    private static final MeasuredValue<SparkTrial> SUSTAINED = run -> run.outcome().sustainedPerS();

    /** Runs of one kind; compared with those of baselines, which differ in the variant only. */
    record Kind(Place place, String variant) {
        private static final List<String> FIRST = List.of(SNAPSHOT, CHANGELOG);
        private static final Comparator<Kind> ORDER =
                Comparator.comparing(Kind::place, Place.ORDER)
                        .thenComparing(kind -> !kind.variant.equals(SNAPSHOT))
                        .thenComparing(kind -> !kind.variant.equals(CHANGELOG))
                        .thenComparing(Kind::variant);

        private static Kind of(SparkTrial trial) {
            return new Kind(Place.of(trial.setting()), trial.setting().variant());
        }

        private Kind as(String other) {
            return new Kind(place, other);
        }

        private boolean isStrict() {
            return variant.startsWith(STRICT);
        }

        private boolean isPipelined() {
            return variant.startsWith(PIPELINED);
        }

        private boolean isOurs() {
            return isStrict() || isPipelined();
        }

        private boolean isOursOnSlow() {
            return isOurs() && place.dfs.equals(SLOW);
        }

        private boolean isBaseline() {
            return FIRST.contains(variant);
        }

        private boolean isControl() {
            return variant.equals(CONTROL);
        }

        private String setting() {
            return variant + ", " + place.text();
        }
    }

    /** What variants have in common that are compared. */
    record Place(String query, String dfs, long triggerMs, int partitions, int ratePerS) {
        private static final Comparator<Place> ORDER =
                Comparator.comparing(Place::query)
                        .thenComparing(Place::dfs)
                        .thenComparing(Place::triggerMs)
                        .thenComparing(Place::partitions)
                        .thenComparing(Place::ratePerS);

        private static Place of(SparkTrial.Setting of) {
            return new Place(of.query(), of.dfs(), of.triggerMs(), of.partitions(), of.ratePerS());
        }

        private boolean isSearch() {
            return ratePerS == 0;
        }

        private boolean isAtSomeRate(Place other) {
            return new Place(query, dfs, triggerMs, partitions, other.ratePerS).equals(other);
        }

        /** What nine of ten batches may take at a rate that is sustained. */
        private long limitMs() {
            return triggerMs == 0 ? SparkTrial.LIMIT_MS : triggerMs;
        }

        private String text() {
            String where =
                    "%s, %s DFS, %s, %d partitions"
                            .formatted(
                                    query,
                                    dfs,
                                    triggerMs == 0
                                            ? "no trigger"
                                            : "every " + Numbers.duration(triggerMs),
                                    partitions);
            return isSearch() ? where : where + ", %,d/s".formatted(ratePerS);
        }
    }

    public SparkPage(List<RecordedTrial<SparkTrial>> recorded) {
        super(recorded, Kind::of, Kind.ORDER);
    }

    public static List<RecordedTrial<SparkTrial>> read(Path directory) throws IOException {
        return read(directory, "spark", SparkTrial.class);
    }

    @Override
    public List<Aim> aims() {
        return List.of(
                faster(
                        TO_SNAPSHOT + ", at the lowest rate at which those fall behind",
                        SNAPSHOT,
                        AIM_SNAPSHOT,
                        kind -> kind.isOursOnSlow() && isWhereSnapshotsFallBehind(kind.place)),
                best(),
                faster(
                                "P99 of the batch time on a slow DFS, Spark's changelog to strict mode",
                                CHANGELOG,
                                AIM_STRICT,
                                kind -> kind.isStrict() && kind.isOursOnSlow())
                        .asHeadline(),
                faster(
                        "P99 of the batch time on a slow DFS, Spark's changelog to pipelined mode",
                        CHANGELOG,
                        AIM_PIPELINED,
                        kind -> kind.isPipelined() && kind.isOursOnSlow()),
                overhead(),
                sustained());
    }

    /**
     * A rate that is not sustained: more than one of ten batches takes longer than the trigger, or
     * 3 s without one. Of those that were measured, the lowest: above it, the baseline's batches
     * only grow.
     */
    private boolean isWhereSnapshotsFallBehind(Place place) {
        return atRates()
                .filter(kind -> kind.variant.equals(SNAPSHOT) && kind.place.isAtSomeRate(place))
                .filter(this::fallsBehind)
                .mapToInt(kind -> kind.place.ratePerS)
                .min()
                .stream()
                .anyMatch(rate -> rate == place.ratePerS);
    }

    private boolean fallsBehind(Kind kind) {
        double[] p90s = values(kind, run -> run.times().p90Ms());
        return p90s.length > 0 && Ratio.median(p90s) > kind.place.limitMs();
    }

    /** How many times as long the baseline takes. */
    private Aim faster(String measure, String baseline, double bound, Predicate<Kind> counts) {
        return aim(
                measure,
                "%s: at least %sx".formatted(measure, bound),
                bound,
                faster(baseline, counts).toList());
    }

    private Stream<Aim.Value> faster(String baseline, Predicate<Kind> counts) {
        return kinds().filter(counts)
                .flatMap(kind -> value(kind, ratios(kind.as(baseline), kind, P99)));
    }

    private Aim best() {
        String measure = TO_SNAPSHOT + ", the best at any rate";
        return aim(
                measure,
                measure + ": above 5x",
                AIM_BEST,
                faster(SNAPSHOT, Kind::isOursOnSlow)
                        .max(Comparator.comparingDouble(Aim.Value::value))
                        .stream()
                        .toList());
    }

    private static Aim aim(String measure, String goal, double bound, List<Aim.Value> values) {
        return new Aim(measure, goal, true, bound, "x", values, COMMAND);
    }

    private Stream<Aim.Value> value(Kind kind, double[] of) {
        return value(kind, kind.setting(), of);
    }

    private Aim overhead() {
        String measure = "commit of the state and log writes in the batch, ours";
        return new Aim(
                measure,
                measure + ": at most %s %% of its time".formatted(AIM_OVERHEAD_PERCENT),
                false,
                AIM_OVERHEAD_PERCENT,
                " %",
                kinds().filter(Kind::isOurs)
                        .flatMap(kind -> value(kind, values(kind, SparkPage::overhead)))
                        .toList(),
                COMMAND);
    }

    private static @Nullable Double overhead(SparkTrial run) {
        return run.parts().overheadPercent();
    }

    private Aim sustained() {
        String measure = "rate that is sustained, ours to Spark's snapshot commits";
        return aim(
                measure,
                "%s: at least %sx".formatted(measure, AIM_SUSTAINED),
                AIM_SUSTAINED,
                kinds().filter(Kind::isOurs)
                        .flatMap(kind -> value(kind, ratios(kind, kind.as(SNAPSHOT), SUSTAINED)))
                        .toList());
    }

    /** For each setting, ours and what it is compared with, and what is not measured of them. */
    public String summary() {
        List<String> header =
                List.of(
                        "setting",
                        "variant",
                        "P99, ms",
                        "snapshot's P99 to this",
                        "changelog's P99 to this",
                        "commit and log writes",
                        "rows");
        Stream<Kind> all =
                atRates()
                        .map(Kind::place)
                        .distinct()
                        .flatMap(
                                place -> SUMMARY.stream().map(variant -> new Kind(place, variant)));
        return kinds().findAny().isEmpty() ? ResultsPage.NONE : table(all, header, this::glance);
    }

    private List<String> glance(Kind kind) {
        if (of(kind).isEmpty()) {
            String none = ResultsPage.MISSING;
            return List.of(kind.place.text(), kind.variant, "not measured", none, none, none, none);
        }
        return List.of(
                kind.place.text(),
                kind.variant,
                range(kind, P99),
                toThis(kind, SNAPSHOT),
                toThis(kind, CHANGELOG),
                range(kind, SparkPage::overhead) + " %",
                rows(kind));
    }

    @Override
    protected Stream<String> tables() {
        return Stream.of(batches(), parts(), snapshots(), rates());
    }

    private Stream<Kind> atRates() {
        return kinds().filter(kind -> !kind.place.isSearch());
    }

    private String batches() {
        List<String> header =
                List.of(
                        "setting",
                        "variant",
                        "batches",
                        "P50, ms",
                        "P90, ms",
                        "P99, ms",
                        "max, ms",
                        "oldest record, P99, ms",
                        "snapshot's P99 to this",
                        "changelog's P99 to this",
                        "rows",
                        "CPU us/record",
                        "processors",
                        "RSS, MiB");
        List<Kind> all = atRates().toList();
        return all.isEmpty()
                ? ""
                : "At a rate (open loop), batches behind the warm-up, from when their records are chosen"
                        + " to their end; the oldest record of each from when it was due. Median of the runs"
                        + " [lowest..highest]:\n\n"
                        + table(all.stream(), header, this::batch);
    }

    private List<String> batch(Kind kind) {
        return List.of(
                kind.place.text(),
                kind.variant,
                range(kind, run -> number(run.times().batches())),
                range(kind, run -> run.times().p50Ms()),
                range(kind, run -> run.times().p90Ms()),
                range(kind, P99),
                range(kind, run -> run.times().maxMs()),
                range(kind, run -> run.times().delayP99Ms()),
                toThis(kind, SNAPSHOT),
                toThis(kind, CHANGELOG),
                rows(kind),
                range(kind, run -> run.cost().cpuUsPerRecord()),
                range(kind, SparkPage::busyPercent) + " %",
                range(kind, run -> run.cost().rssMib()));
    }

    /** The control has other rows, and then it is as it should be. */
    private String rows(Kind kind) {
        if (kind.isControl()) {
            boolean isFound =
                    of(kind).stream()
                            .allMatch(run -> Boolean.FALSE.equals(run.outcome().rowsRight()));
            return isFound ? "wrong, as they should be" : "**right**, and should not be";
        }
        return TrialHistory.counts(of(kind).stream().map(run -> run.outcome().rowsRight()));
    }

    private String toThis(Kind kind, String baseline) {
        return kind.isControl() || kind.variant.equals(baseline)
                ? ResultsPage.MISSING
                : ratio(ratios(kind.as(baseline), kind, P99));
    }

    private static @Nullable Double busyPercent(SparkTrial run) {
        return run.cost().busy() == null ? null : 100 * run.cost().busy();
    }

    private static @Nullable Double number(@Nullable Number value) {
        return value == null ? null : value.doubleValue();
    }

    private String parts() {
        List<String> header =
                List.of(
                        "setting",
                        "variant",
                        "batch, ms",
                        "write of the offsets, ms",
                        "planning, ms",
                        "tasks and sink, ms",
                        "write of the commit, ms",
                        "commit of the state, ms",
                        "flush, ms",
                        "compaction, ms",
                        "checkpoint, ms",
                        "upload, ms",
                        "changelog, ms",
                        "commit and log writes");
        List<Kind> all = atRates().toList();
        return all.isEmpty()
                ? ""
                : "Means of what these batches consist of. Commits of the state, and what these consist"
                        + " of, are in the tasks: the sum of all tasks, by how many run at once:\n\n"
                        + table(all.stream(), header, this::part);
    }

    private List<String> part(Kind kind) {
        return List.of(
                kind.place.text(),
                kind.variant,
                range(kind, run -> run.parts().batchMs()),
                range(kind, run -> run.parts().walCommitMs()),
                range(kind, run -> run.parts().planningMs()),
                range(kind, run -> run.parts().addBatchMs()),
                range(kind, run -> run.parts().commitOffsetsMs()),
                range(kind, run -> run.parts().stateCommitMs()),
                range(kind, run -> run.parts().flushMs()),
                range(kind, run -> run.parts().compactMs()),
                range(kind, run -> run.parts().checkpointMs()),
                range(kind, run -> run.parts().uploadMs()),
                range(kind, run -> run.parts().changelogMs()),
                range(kind, SparkPage::overhead) + " %");
    }

    private String snapshots() {
        List<String> header =
                List.of(
                        "setting",
                        "variant",
                        "most in a batch",
                        "mean",
                        "batches with any",
                        "batches, by how many each has");
        List<Kind> all = atRates().filter(this::hasSnapshots).toList();
        return all.isEmpty()
                ? ""
                : "Snapshots that the tasks of a batch make (a flush of RocksDB, and a checkpoint on the"
                        + " local disk), one of a state store each:\n\n"
                        + table(all.stream(), header, this::snapshot);
    }

    private boolean hasSnapshots(Kind kind) {
        return of(kind).stream().anyMatch(run -> run.snapshots().most() != null);
    }

    private List<String> snapshot(Kind kind) {
        return List.of(
                kind.place.text(),
                kind.variant,
                range(kind, run -> run.snapshots().most()),
                range(kind, run -> run.snapshots().mean()),
                range(kind, run -> run.snapshots().percentWithAny()) + " %",
                SparkTrial.Snapshots.distribution(of(kind)));
    }

    private String rates() {
        List<String> header =
                List.of(
                        "setting",
                        "variant",
                        "sustained, records/s",
                        "to snapshot",
                        "to changelog");
        List<Kind> all = kinds().filter(kind -> kind.place.isSearch()).toList();
        return all.isEmpty()
                ? ""
                : "The highest rate at which nine of ten batches take no longer than the trigger, or 3 s"
                        + " without one (MiSA's \"throughput\" is another figure: bytes of a batch by its"
                        + " time):\n\n"
                        + table(all.stream(), header, this::rate);
    }

    private List<String> rate(Kind kind) {
        return List.of(
                kind.place.text(),
                kind.variant,
                range(kind, SUSTAINED),
                to(kind, SNAPSHOT),
                to(kind, CHANGELOG));
    }

    private String to(Kind kind, String baseline) {
        return kind.variant.equals(baseline) || kind.isBaseline() && baseline.equals(CHANGELOG)
                ? ResultsPage.MISSING
                : ratio(ratios(kind, kind.as(baseline), SUSTAINED));
    }
}
