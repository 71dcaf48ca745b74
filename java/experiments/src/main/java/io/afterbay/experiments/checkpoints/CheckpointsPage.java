package io.afterbay.experiments.checkpoints;

import static java.util.stream.Collectors.joining;

import io.afterbay.bench.Aim;
import io.afterbay.bench.MeasuredValue;
import io.afterbay.bench.Numbers;
import io.afterbay.bench.Ratio;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.bench.ResultsPage;
import io.afterbay.bench.TrialHistory;
import io.afterbay.bench.TrialPage;
import io.afterbay.experiments.checkpoints.CheckpointTrial.Checkpoint;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The tables about checkpoints, in Markdown, with what is aimed at and whether it is met. */
public final class CheckpointsPage extends TrialPage<CheckpointsPage.Kind, CheckpointTrial> {
    private static final String COMMAND =
            "./afterbay bench checkpoints --sizes 1g,20g --intervals off,10s --memory 8g";
    private static final long AIM_INTERVAL_MS = 10_000;
    private static final double AIM_RATIO = 0.98;
    private static final double AIM_SYNC_MS = Math.nextDown(5.0);
    private static final double AIM_SAME_MIN = 0.8;
    private static final double AIM_SAME_MAX = 1.2;

    /** Runs of one kind; compared with others of the same size. */
    record Kind(long stateMib, String backend, long intervalMs) {
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

        private String setting() {
            return Numbers.mebibytes(stateMib) + ", " + interval();
        }

        private String interval() {
            return intervalMs == 0 ? "off" : Numbers.duration(intervalMs);
        }
    }

    public CheckpointsPage(List<RecordedTrial<CheckpointTrial>> recorded) {
        super(recorded, Kind::of, Kind.ORDER);
    }

    public static List<RecordedTrial<CheckpointTrial>> read(Path directory) throws IOException {
        return read(directory, "checkpoints", CheckpointTrial.class);
    }

    @Override
    protected Stream<String> tables() {
        return Stream.of(throughput(), durations());
    }

    @Override
    public List<Aim> aims() {
        return List.of(
                new Aim(
                        "throughput with checkpoints every 10 s to that without",
                        "checkpoints every 10 s take at most 2 % of the throughput",
                        true,
                        AIM_RATIO,
                        "x",
                        each(kind -> kind.intervalMs == AIM_INTERVAL_MS ? kept(kind) : null),
                        command()),
                new Aim(
                        "synchronous part of checkpoints, P99",
                        "the synchronous part takes less than 5 ms (P99)",
                        false,
                        AIM_SYNC_MS,
                        " ms",
                        each(this::syncMs),
                        command()),
                new Aim(
                                "duration of checkpoints to that with the smallest state, at the same rate"
                                        + " of change",
                                "checkpoints take the same time (0.8x to 1.2x) with more state, at the same"
                                        + " rate of change",
                                false,
                                AIM_SAME_MAX,
                                "x",
                                each(this::growth),
                                command())
                        .andAtLeast(AIM_SAME_MIN));
    }

    private List<Aim.Value> each(MeasuredValue<Kind> value) {
        return kinds().filter(kind -> kind.backend.equals(OURS) && kind.intervalMs > 0)
                .flatMap(
                        kind ->
                                Stream.ofNullable(value.of(kind))
                                        .map(one -> value(kind, kind.setting(), one, pairs(kind))))
                .toList();
    }

    /** As it was typed, of which the sizes are; if it never was, with those that are aimed at. */
    private String command() {
        String typed = commands(kinds().filter(kind -> kind.backend.equals(OURS)));
        return typed.isEmpty() ? COMMAND : typed;
    }

    private int pairs(Kind kind) {
        return of(kind).size();
    }

    private @Nullable Double kept(Kind kind) {
        double[] ratios = ratios(kind);
        return ratios.length == 0 ? null : Ratio.of(ratios).median();
    }

    private @Nullable Double syncMs(Kind kind) {
        double[] sync = values(kind, Checkpoint::syncMs);
        return sync.length == 0 ? null : percentile(sync, 99);
    }

    /** Median duration relative to that with the smallest state; null for the smallest itself. */
    private @Nullable Double growth(Kind kind) {
        return kinds().filter(other -> other.backend.equals(kind.backend))
                .filter(other -> other.intervalMs == kind.intervalMs)
                .filter(other -> other.stateMib < kind.stateMib)
                .map(other -> ofCheckpoints(ofSameRevision(kind, other), Checkpoint::endToEndMs))
                .filter(least -> least.length > 0)
                .findFirst()
                .map(least -> growth(values(kind, Checkpoint::endToEndMs), least))
                .orElse(null);
    }

    private String throughput() {
        List<String> header =
                List.of(
                        "state",
                        "backend",
                        "interval",
                        "events/s",
                        "with / without checkpoints",
                        "CPU us/event",
                        "counts");
        return "At full speed (closed loop), median of the runs [lowest..highest]:\n\n"
                + table(kinds(), header, this::throughput);
    }

    private List<String> throughput(Kind kind) {
        List<String> row = names(kind);
        row.add(range(kind, CheckpointTrial::eventsPerS));
        row.add(ratio(kind));
        row.add(range(kind, CheckpointTrial::cpuUsPerEvent));
        row.add(TrialHistory.counts(of(kind).stream().map(CheckpointTrial::outputsRight)));
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
        return ratios(kind, kind.without(), CheckpointTrial::eventsPerS);
    }

    private String durations() {
        List<String> header =
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
                        "whole MB");
        return "At a fixed rate of updates (open loop%s), all checkpoints of all runs:\n\n"
                        .formatted(rates())
                + table(kinds().filter(kind -> kind.intervalMs > 0), header, this::durations);
    }

    private String rates() {
        return TrialHistory.rates(all().map(CheckpointTrial::ratePerS));
    }

    private List<String> durations(Kind kind) {
        List<String> row = names(kind);
        row.add(Integer.toString(values(kind, Checkpoint::syncMs).length));
        row.add(percentiles(kind, Checkpoint::syncMs, 50, 99, 100));
        row.add(percentiles(kind, Checkpoint::asyncMs, 50, 99, 100));
        row.add(percentiles(kind, Checkpoint::endToEndMs, 50, 99, 100));
        row.add(times(growth(kind)));
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

    /** Of all checkpoints of the open loops of runs that count. */
    private double[] values(Kind kind, ToDoubleFunction<Checkpoint> figure) {
        return ofCheckpoints(of(kind), figure);
    }

    private static double[] ofCheckpoints(
            List<CheckpointTrial> runs, ToDoubleFunction<Checkpoint> figure) {
        return runs.stream()
                .filter(CheckpointTrial::counts)
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
