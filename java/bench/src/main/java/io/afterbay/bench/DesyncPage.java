package io.afterbay.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The tables about instances of RocksDB that are kept apart, in Markdown, with what is aimed at and
 * whether it is met (ShadowSync, section 5).
 */
public final class DesyncPage extends TrialPage<DesyncPage.Kind, DesyncTrial> {
    private static final String DEFAULT = "default";

    /** Cures that are Afterbay's; the others are RocksDB's own. */
    private static final Set<String> OUR_CURES = Set.of("spread", "gate", "knee", "all");

    private static final String COMMAND = "./afterbay bench desync";
    private static final double AIM_P999 = 0.2;
    private static final double AIM_P95 = 0.5;
    private static final double AIM_WORST = 1.05;

    /** Where the default's worst is so many times its median, there is a problem to cure. */
    private static final double PROBLEM_MIN = 5;

    /** Runs of one kind; compared with those of the default, which differ in the cure only. */
    record Kind(
            int subtasks, long intervalMs, int payloadBytes, int threads, int load, String cure) {
        private static final Comparator<Kind> ORDER =
                Comparator.comparingInt(Kind::subtasks)
                        .thenComparing(Kind::intervalMs)
                        .thenComparing(Kind::payloadBytes)
                        .thenComparing(Kind::threads)
                        .thenComparing(Kind::load)
                        .thenComparing(kind -> !kind.cure.equals(DEFAULT))
                        .thenComparing(Kind::cure);

        private static Kind of(DesyncTrial trial) {
            DesyncTrial.Setting of = trial.setting();
            return new Kind(
                    of.subtasks(),
                    of.intervalMs(),
                    of.payloadBytes(),
                    of.threads(),
                    of.loadPercent(),
                    of.cure());
        }

        private Kind uncured() {
            return new Kind(subtasks, intervalMs, payloadBytes, threads, load, DEFAULT);
        }

        private boolean isCure() {
            return load > 0 && !cure.equals(DEFAULT);
        }

        private String setting() {
            return "%s, %d subtasks, %s, %d threads"
                    .formatted(cure, subtasks, Numbers.duration(intervalMs), threads);
        }
    }

    public DesyncPage(List<RecordedTrial<DesyncTrial>> recorded) {
        super(recorded, Kind::of, Kind.ORDER);
    }

    static List<RecordedTrial<DesyncTrial>> read(Path directory) throws IOException {
        return read(directory, "desync", DesyncTrial.class);
    }

    @Override
    List<Aim> aims() {
        return List.of(
                aim("P99.9", AIM_P999, this::showsProblem, run -> run.latency().p999Ms()),
                aim("P95", AIM_P95, this::showsProblem, run -> run.latency().p95Ms()),
                aim("P99", AIM_WORST, kind -> true, run -> run.latency().p99Ms()));
    }

    private Aim aim(
            String figure,
            double bound,
            Predicate<Kind> counts,
            Function<DesyncTrial, @Nullable Double> value) {
        String where = bound < 1 ? " where that is five times its median or more" : "";
        return new Aim(
                "%s of the latency on RocksDB, cured to default%s".formatted(figure, where),
                "%s is at most %sx of the default's%s".formatted(figure, bound, where),
                false,
                bound,
                "x",
                kinds().filter(kind -> kind.isCure() && OUR_CURES.contains(kind.cure))
                        .filter(counts)
                        .flatMap(kind -> value(kind, value))
                        .toList(),
                COMMAND);
    }

    private Stream<Aim.Value> value(Kind kind, Function<DesyncTrial, @Nullable Double> figure) {
        double[] ratios = ratios(kind, kind.uncured(), figure);
        return ratios.length == 0
                ? Stream.empty()
                : Stream.of(new Aim.Value(kind.setting(), Ratio.of(ratios).median()));
    }

    private boolean showsProblem(Kind kind) {
        double[] tail = values(kind.uncured(), run -> run.latency().p999Ms());
        double[] median = values(kind.uncured(), run -> run.latency().p50Ms());
        Double growth = growth(tail, median);
        return growth != null && growth >= PROBLEM_MIN;
    }

    @Override
    Stream<String> tables() {
        return Stream.of(maximum(), latencies(), overlaps());
    }

    private String maximum() {
        MarkdownTable table =
                new MarkdownTable(List.of("subtasks", "checkpoints every", "threads", "events/s"));
        kinds().filter(kind -> kind.load == 0)
                .forEach(
                        kind ->
                                table.row(
                                        List.of(
                                                Integer.toString(kind.subtasks),
                                                Numbers.duration(kind.intervalMs),
                                                Integer.toString(kind.threads),
                                                range(kind, run -> run.outcome().eventsPerS()))));
        return "The maximum rate (closed loop, default):\n\n" + table;
    }

    private String latencies() {
        MarkdownTable table =
                new MarkdownTable(
                        List.of(
                                "subtasks",
                                "checkpoints every",
                                "threads",
                                "cure",
                                "P50, ms",
                                "P95, ms",
                                "P99, ms",
                                "P99.9, ms",
                                "max, ms",
                                "P95 to default",
                                "P99.9 to default",
                                "processors",
                                "pairs"));
        open().forEach(kind -> table.row(latency(kind)));
        return "At a share of it (open loop), median of the runs [lowest..highest]:\n\n" + table;
    }

    private Stream<Kind> open() {
        return kinds().filter(kind -> kind.load > 0);
    }

    private List<String> latency(Kind kind) {
        return List.of(
                Integer.toString(kind.subtasks),
                Numbers.duration(kind.intervalMs),
                Integer.toString(kind.threads),
                kind.cure,
                range(kind, run -> run.latency().p50Ms()),
                range(kind, run -> run.latency().p95Ms()),
                range(kind, run -> run.latency().p99Ms()),
                range(kind, run -> run.latency().p999Ms()),
                range(kind, run -> run.latency().maxMs()),
                toDefault(kind, run -> run.latency().p95Ms()),
                toDefault(kind, run -> run.latency().p999Ms()),
                range(kind, run -> run.latency().cpuCores()),
                Integer.toString(of(kind).size()));
    }

    private String toDefault(Kind kind, Function<DesyncTrial, @Nullable Double> figure) {
        return kind.isCure() ? ratio(ratios(kind, kind.uncured(), figure)) : ResultsPage.MISSING;
    }

    private String overlaps() {
        MarkdownTable table =
                new MarkdownTable(
                        List.of(
                                "subtasks",
                                "checkpoints every",
                                "threads",
                                "cure",
                                "compactions",
                                "alignment",
                                "instances after one checkpoint, most",
                                "at one moment, most",
                                "time of flushes met by compactions",
                                "stalls"));
        open().forEach(kind -> table.row(overlap(kind)));
        return "What RocksDB's logs say of the same runs:\n\n" + table;
    }

    private List<String> overlap(Kind kind) {
        return List.of(
                Integer.toString(kind.subtasks),
                Numbers.duration(kind.intervalMs),
                Integer.toString(kind.threads),
                kind.cure,
                count(kind, DesyncTrial.Overlap::compactions),
                range(kind, run -> run.overlap().alignment()),
                count(kind, DesyncTrial.Overlap::mostPerRound),
                count(kind, DesyncTrial.Overlap::mostAtOnce),
                range(kind, run -> run.overlap().flushesMet()),
                count(kind, DesyncTrial.Overlap::stalls));
    }

    private String count(Kind kind, Function<DesyncTrial.Overlap, @Nullable Integer> figure) {
        return range(
                kind,
                run -> {
                    Integer count = figure.apply(run.overlap());
                    return count == null ? null : count.doubleValue();
                });
    }
}
