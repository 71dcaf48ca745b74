package io.afterbay.experiments.edge;

import io.afterbay.bench.Aim;
import io.afterbay.bench.MeasuredValue;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.bench.TrialHistory;
import io.afterbay.bench.TrialPage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * The tables about edge-cloud applications, in Markdown, with what is aimed at and whether it is
 * met.
 */
public final class EdgePage extends TrialPage<EdgePage.Kind, EdgeTrial> {
    private static final String COMMAND = "./afterbay bench edge";
    private static final double MIB = 1 << 20;
    private static final double AIM_BYTES = 0.1;

    private static final MeasuredValue<EdgeTrial> BYTES = EdgeTrial::bytesRatio;
    private static final MeasuredValue<EdgeTrial> MEMORY =
            run -> {
                Long bytes = run.halves().agentPeakBytes();
                return bytes == null ? null : bytes / MIB;
            };

    /** Runs of one kind. */
    record Kind(EdgeVariant variant, long linkBitsPerS, long playMs, long outageMs) {
        private static final Comparator<Kind> ORDER =
                Comparator.comparing(Kind::variant)
                        .thenComparing(Kind::linkBitsPerS)
                        .thenComparing(Kind::playMs)
                        .thenComparing(Kind::outageMs);

        private static Kind of(EdgeTrial trial) {
            EdgeTrial.Setting of = trial.setting();
            return new Kind(
                    EdgeVariant.named(of.variant()), of.linkBitsPerS(), of.playMs(), of.outageMs());
        }

        private String text() {
            return String.format(
                    Locale.ROOT,
                    "links of %,d kbit/s, played in %.0f s, down for %.0f s",
                    linkBitsPerS / 1_000,
                    playMs / 1e3,
                    outageMs / 1e3);
        }
    }

    public EdgePage(List<RecordedTrial<EdgeTrial>> recorded) {
        super(recorded, Kind::of, Kind.ORDER);
    }

    public static List<RecordedTrial<EdgeTrial>> read(Path directory) throws IOException {
        return read(directory, "edge", EdgeTrial.class);
    }

    @Override
    public List<Aim> aims() {
        return List.of(
                atMost("bytes over the links, to the whole job", AIM_BYTES, "x", BYTES)
                        .asHeadline(),
                atMost(
                        "resident memory of an agent",
                        EdgeKind.AGENT_BYTES_MAX / MIB,
                        " MiB",
                        MEMORY));
    }

    private Aim atMost(String measure, double bound, String unit, MeasuredValue<EdgeTrial> figure) {
        String goal = "%s: at most %s%s".formatted(measure, bound, unit);
        List<Aim.Value> medians =
                live().flatMap(kind -> value(kind, kind.text(), values(kind, figure))).toList();
        return new Aim(measure, goal, false, bound, unit, medians, COMMAND);
    }

    private Stream<Kind> live() {
        return kinds().filter(kind -> kind.variant == EdgeVariant.LIVE);
    }

    @Override
    protected Stream<String> tables() {
        List<String> header =
                List.of(
                        "links",
                        "rows",
                        "bytes to the whole job",
                        "age of results, median, ms",
                        "99 %, ms",
                        "whole job: median, ms",
                        "99 %, ms",
                        "agent, MiB",
                        "lines for a CPU second of the agents");
        return Stream.of(
                "A city's cars in eight districts, each a site: windows of 10 s. Median of the runs [lowest..highest]:\n\n"
                        + table(live(), header, this::row));
    }

    private List<String> row(Kind kind) {
        return List.of(
                kind.text(),
                TrialHistory.counts(
                        of(kind).stream().map(run -> Boolean.TRUE.equals(run.outcome().equal()))),
                range(kind, BYTES),
                range(kind, run -> run.halves().halvesAgeP50Ms()),
                range(kind, run -> run.halves().halvesAgeP99Ms()),
                range(kind, run -> run.whole().wholeAgeP50Ms()),
                range(kind, run -> run.whole().wholeAgeP99Ms()),
                range(kind, MEMORY),
                range(kind, EdgeTrial::linesPerCpuS));
    }
}
