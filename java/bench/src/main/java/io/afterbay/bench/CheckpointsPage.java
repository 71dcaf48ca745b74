package io.afterbay.bench;

import static java.util.stream.Collectors.joining;

import io.afterbay.bench.CheckpointTrial.Checkpoint;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The tables about checkpoints, in Markdown, with what is aimed at and whether it is met. */
public final class CheckpointsPage {
    private static final String OURS = "afterbay";
    private static final long AIM_INTERVAL_MS = 10_000;
    private static final double AIM_RATIO = 0.98;
    private static final double AIM_SYNC_MS = 5;
    private static final double AIM_GROWTH = 1.2;

    /** Runs of one kind; compared with others of the same size. */
    private record Kind(long stateMib, String backend, long intervalMs) {
        private static final Comparator<Kind> ORDER =
                Comparator.comparingLong(Kind::stateMib)
                        .thenComparing(Kind::backend)
                        .thenComparing(Comparator.comparingLong(Kind::rank).reversed());

        private static Kind of(CheckpointTrial trial) {
            return new Kind(trial.stateMib(), trial.backend(), trial.intervalMs());
        }

        /** The longer the interval, the higher; without checkpoints it is the highest. */
        private long rank() {
            return intervalMs == 0 ? Long.MAX_VALUE : intervalMs;
        }

        private Kind without() {
            return new Kind(stateMib, backend, 0);
        }

        private String interval() {
            return intervalMs == 0 ? "off" : Numbers.duration(intervalMs);
        }
    }

    private final TrialHistory<CheckpointTrial> history;
    private final Map<Kind, List<CheckpointTrial>> trials = new TreeMap<>(Kind.ORDER);

    public CheckpointsPage(List<RecordedTrial<CheckpointTrial>> recorded) {
        history = new TrialHistory<>(recorded);
        history.newest(Kind::of)
                .forEach(
                        (kind, all) ->
                                trials.put(kind, all.stream().filter(Trial::finished).toList()));
    }

    /** Aims and tables; below them where the figures come from. */
    public String details() {
        if (history.isEmpty()) {
            return ResultsPage.NONE;
        }
        return Stream.of(aims(), throughput(), durations(), history.circumstances(Kind::of))
                .collect(joining("\n"));
    }

    private String aims() {
        return TrialHistory.aim(
                        "checkpoints every 10 s take at most 2 % of the throughput",
                        keepThroughput())
                + TrialHistory.aim("the synchronous part takes less than 5 ms (P99)", areShort())
                + TrialHistory.aim(
                        "checkpoints take the same time (±20 %) with more state, at the same rate"
                                + " of change",
                        areFlat());
    }

    private Stream<Kind> ours() {
        return trials.keySet().stream()
                .filter(kind -> kind.backend.equals(OURS) && kind.intervalMs > 0);
    }

    private List<Boolean> keepThroughput() {
        return ours().filter(kind -> kind.intervalMs == AIM_INTERVAL_MS)
                .map(this::ratios)
                .filter(ratios -> ratios.length > 0)
                .map(ratios -> Ratio.of(ratios).median() >= AIM_RATIO)
                .toList();
    }

    private List<Boolean> areShort() {
        return ours().map(kind -> values(kind, Checkpoint::syncMs))
                .filter(sync -> sync.length > 0)
                .map(sync -> percentile(sync, 99) < AIM_SYNC_MS)
                .toList();
    }

    /** In comparison with the smallest state; shorter is no fault. */
    private List<Boolean> areFlat() {
        return ours().map(this::growth)
                .filter(Objects::nonNull)
                .map(growth -> growth <= AIM_GROWTH)
                .toList();
    }

    /** Median duration relative to that with the smallest state; null for the smallest itself. */
    private @Nullable Double growth(Kind kind) {
        double[] here = values(kind, Checkpoint::endToEndMs);
        return trials.keySet().stream()
                .filter(other -> other.backend.equals(kind.backend))
                .filter(other -> other.intervalMs == kind.intervalMs)
                .filter(other -> other.stateMib < kind.stateMib)
                .map(other -> values(other, Checkpoint::endToEndMs))
                .filter(least -> least.length > 0 && here.length > 0)
                .findFirst()
                .map(least -> Ratio.median(here) / Ratio.median(least))
                .orElse(null);
    }

    private String throughput() {
        MarkdownTable table =
                new MarkdownTable(
                        List.of(
                                "state",
                                "backend",
                                "interval",
                                "events/s",
                                "with / without checkpoints",
                                "CPU us/event",
                                "pairs",
                                "counts"));
        trials.forEach((kind, all) -> table.row(throughput(kind, all)));
        return "At full speed (closed loop), median of the runs [lowest..highest]:\n\n" + table;
    }

    private List<String> throughput(Kind kind, List<CheckpointTrial> all) {
        List<String> row = names(kind);
        row.add(TrialHistory.range(all.stream().map(CheckpointTrial::eventsPerS)));
        row.add(ratio(kind));
        row.add(TrialHistory.range(all.stream().map(CheckpointTrial::cpuUsPerEvent)));
        row.add(Integer.toString(all.size()));
        row.add(TrialHistory.counts(all.stream().map(CheckpointTrial::outputsRight)));
        return row;
    }

    private String ratio(Kind kind) {
        double[] ratios = ratios(kind);
        if (kind.intervalMs == 0 || ratios.length == 0) {
            return ResultsPage.MISSING;
        }
        Ratio ratio = Ratio.of(ratios);
        return String.format(
                Locale.ROOT, "%.3f [%.3f..%.3f]", ratio.median(), ratio.min(), ratio.max());
    }

    /** Of the throughput to that of the same backend without checkpoints, pair by pair. */
    private double[] ratios(Kind kind) {
        List<CheckpointTrial> without = trials.getOrDefault(kind.without(), List.of());
        return trials.getOrDefault(kind, List.of()).stream()
                .flatMapToDouble(trial -> ratio(trial, without))
                .toArray();
    }

    private static DoubleStream ratio(CheckpointTrial trial, List<CheckpointTrial> without) {
        Double dividend = trial.eventsPerS();
        return without.stream()
                .filter(other -> other.pair() == trial.pair())
                .map(CheckpointTrial::eventsPerS)
                .filter(divisor -> dividend != null && divisor != null)
                .mapToDouble(divisor -> Objects.requireNonNull(dividend) / divisor);
    }

    private String durations() {
        MarkdownTable table =
                new MarkdownTable(
                        List.of(
                                "state",
                                "backend",
                                "interval",
                                "checkpoints",
                                "sync ms P50 / P99 / max",
                                "async ms P50 / P99 / max",
                                "end to end ms P50 / P99 / max",
                                "to the smallest state",
                                "written MB P50 / max",
                                "whole MB"));
        trials.keySet().stream()
                .filter(kind -> kind.intervalMs > 0)
                .forEach(kind -> table.row(durations(kind)));
        return "At a fixed rate of updates (open loop%s), all checkpoints of all runs:\n\n"
                        .formatted(rates())
                + table;
    }

    private String rates() {
        return TrialHistory.rates(
                trials.values().stream().flatMap(List::stream).map(CheckpointTrial::ratePerS));
    }

    private List<String> durations(Kind kind) {
        List<String> row = names(kind);
        row.add(Integer.toString(values(kind, Checkpoint::syncMs).length));
        row.add(percentiles(kind, Checkpoint::syncMs, 50, 99, 100));
        row.add(percentiles(kind, Checkpoint::asyncMs, 50, 99, 100));
        row.add(percentiles(kind, Checkpoint::endToEndMs, 50, 99, 100));
        Double growth = growth(kind);
        row.add(growth == null ? ResultsPage.MISSING : Numbers.format(growth) + "x");
        row.add(percentiles(kind, Checkpoint::newMb, 50, 100));
        row.add(percentiles(kind, Checkpoint::fullMb, 50));
        return row;
    }

    private static List<String> names(Kind kind) {
        return new ArrayList<>(
                List.of(
                        Numbers.mebibytes(kind.stateMib),
                        "`" + kind.backend + "`",
                        kind.interval()));
    }

    private String percentiles(Kind kind, ToDoubleFunction<Checkpoint> figure, int... percents) {
        double[] values = values(kind, figure);
        return values.length == 0
                ? ResultsPage.MISSING
                : Arrays.stream(percents)
                        .mapToObj(percent -> Numbers.format(percentile(values, percent)))
                        .collect(joining(" / "));
    }

    /** Of all checkpoints of the open loops. */
    private double[] values(Kind kind, ToDoubleFunction<Checkpoint> figure) {
        return trials.getOrDefault(kind, List.of()).stream()
                .flatMap(trial -> trial.openCheckpoints().stream())
                .mapToDouble(figure)
                .toArray();
    }

    /** The least value that so many percent of them do not exceed. */
    static double percentile(double[] values, int percent) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int rank = (int) Math.ceil(percent / 100.0 * sorted.length);
        return sorted[Math.max(0, rank - 1)];
    }
}
