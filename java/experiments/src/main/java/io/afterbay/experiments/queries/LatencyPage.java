package io.afterbay.experiments.queries;

import io.afterbay.bench.Aim;
import io.afterbay.bench.Cell;
import io.afterbay.bench.MeasuredValue;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.bench.ResultsPage;
import io.afterbay.bench.TrialPage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The tables about latency at shares of a maximum rate, with what is aimed at. */
public final class LatencyPage extends TrialPage<LatencyPage.Kind, QueryTrial> {
    private static final String COMMAND = "./afterbay bench latency";
    private static final String HEAP = "hashmap";
    private static final String STALL_QUERY = "q7";
    private static final int AIM_PERCENT = 70;
    private static final double AIM_TAIL = 0.3;
    private static final double AIM_STALL = 0.5;

    /** Runs of one kind. */
    record Kind(Cell cell, String query, int ratePercent, String backend) {
        private static final Comparator<Kind> ORDER =
                Comparator.comparing(Kind::cell)
                        .thenComparing(Kind::query)
                        .thenComparing(Kind::ratePercent)
                        .thenComparing(Kind::backend);

        private static Kind of(QueryTrial trial) {
            QueryTrial.Setting of = trial.setting();
            return new Kind(of.cell(), of.query(), of.ratePercent(), of.backend());
        }

        private Kind of(String other) {
            return new Kind(cell, query, ratePercent, other);
        }

        private boolean isOpenLoop() {
            return ratePercent > 0;
        }

        private String setting() {
            return "%s, %s, %d %%".formatted(query, cell.jsonName(), ratePercent);
        }
    }

    public LatencyPage(List<RecordedTrial<QueryTrial>> recorded) {
        super(recorded, Kind::of, Kind.ORDER);
    }

    public static List<RecordedTrial<QueryTrial>> read(Path directory) throws IOException {
        return read(directory, "latency", QueryTrial.class);
    }

    @Override
    public List<Aim> aims() {
        Predicate<Kind> isAtAim = kind -> kind.ratePercent == AIM_PERCENT;
        return List.of(
                tail("P99", isAtAim, run -> run.openLoop().p99Ms()),
                tail("P99.9", isAtAim, run -> run.openLoop().p999Ms()),
                new Aim(
                        "longest stall of the input in `" + STALL_QUERY + "`, to " + HEAP,
                        "the longest stall of the input in `"
                                + STALL_QUERY
                                + "` is at most 0.5x of "
                                + HEAP
                                + "'s",
                        false,
                        AIM_STALL,
                        "x",
                        values(
                                kind -> kind.query.equals(STALL_QUERY),
                                HEAP,
                                run -> run.openLoop().longestPauseMs()),
                        COMMAND + " --query " + STALL_QUERY));
    }

    private Aim tail(String name, Predicate<Kind> which, MeasuredValue<QueryTrial> figure) {
        return new Aim(
                "%s of the latency at %d %% of the maximum rate of %s, to it"
                        .formatted(name, AIM_PERCENT, RIVAL),
                "at %d %% of the maximum rate of %s, %s is at most 0.3x of it"
                        .formatted(AIM_PERCENT, RIVAL, name),
                false,
                AIM_TAIL,
                "x",
                values(which, RIVAL, figure),
                COMMAND);
    }

    private List<Aim.Value> values(
            Predicate<Kind> which, String other, MeasuredValue<QueryTrial> figure) {
        return kinds().filter(kind -> kind.isOpenLoop() && kind.backend.equals(OURS))
                .filter(which)
                .flatMap(kind -> value(kind, kind.setting(), ratios(kind, kind.of(other), figure)))
                .toList();
    }

    @Override
    protected Stream<String> tables() {
        return Stream.of(maxima(), latencies());
    }

    private String maxima() {
        return "The maximum rate (closed loop):\n\n"
                + table(
                        kinds().filter(kind -> !kind.isOpenLoop()),
                        List.of("cell", "query", "backend", "events/s", "CPU us/event"),
                        kind ->
                                List.of(
                                        kind.cell.jsonName(),
                                        "`" + kind.query + "`",
                                        "`" + kind.backend + "`",
                                        range(kind, run -> run.closedLoop().eventsPerS()),
                                        range(kind, run -> run.closedLoop().cpuUsPerEvent())));
    }

    private String latencies() {
        List<String> header =
                List.of(
                        "cell",
                        "query",
                        "rate",
                        "backend",
                        "P50, ms",
                        "P99, ms",
                        "P99.9, ms",
                        "max, ms",
                        "longest stall, ms",
                        "P99 to " + RIVAL,
                        "P99.9 to " + RIVAL,
                        "stall to " + HEAP,
                        "rows");
        return "At shares of it (open loop), median of the runs [lowest..highest]:\n\n"
                + table(kinds().filter(Kind::isOpenLoop), header, this::row);
    }

    private List<String> row(Kind kind) {
        return List.of(
                kind.cell.jsonName(),
                "`" + kind.query + "`",
                kind.ratePercent + " %",
                "`" + kind.backend + "`",
                range(kind, run -> run.openLoop().p50Ms()),
                range(kind, run -> run.openLoop().p99Ms()),
                range(kind, run -> run.openLoop().p999Ms()),
                range(kind, run -> run.openLoop().maxMs()),
                range(kind, run -> run.openLoop().longestPauseMs()),
                to(kind, RIVAL, run -> run.openLoop().p99Ms()),
                to(kind, RIVAL, run -> run.openLoop().p999Ms()),
                to(kind, HEAP, run -> run.openLoop().longestPauseMs()),
                rows(kind));
    }

    private String to(Kind kind, String other, MeasuredValue<QueryTrial> figure) {
        return kind.backend.equals(other)
                ? ResultsPage.MISSING
                : ratio(ratios(kind, kind.of(other), figure));
    }

    /** Whether all runs of any backend at that rate gave the same rows. */
    private String rows(Kind kind) {
        return rows(
                kinds().filter(other -> kind.of(other.backend).equals(other))
                        .flatMap(other -> of(other).stream()));
    }

    /** A field of a table: whether runs of the same loop gave the same rows. */
    static String rows(Stream<QueryTrial> runs) {
        long different = runs.map(QueryTrial::rows).filter(Objects::nonNull).distinct().count();
        if (different == 0) {
            return ResultsPage.MISSING;
        }
        return different == 1 ? "equal" : "**differ**";
    }
}
