package io.afterbay.experiments.edge;

import static io.afterbay.experiments.edge.EdgeVariant.LIVE;
import static io.afterbay.experiments.edge.EdgeVariant.MINI_CLUSTER;
import static io.afterbay.experiments.edge.EdgeVariant.PRODUCER;

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
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The tables about edge-cloud applications, in Markdown, with what is aimed at and whether it is
 * met.
 */
public final class EdgePage extends TrialPage<EdgePage.Kind, EdgeTrial> {
    private static final String COMMAND = "./afterbay bench edge";
    private static final double MIB = 1 << 20;
    private static final double AIM_BYTES = 0.1;
    private static final double AIM_MEMORY = 0.1;
    private static final double AIM_CPU = 1;
    private static final String CPU = "lines for a CPU second of the agents";

    private static final MeasuredValue<EdgeTrial> BYTES = EdgeTrial::bytesRatio;
    private static final MeasuredValue<EdgeTrial> MEMORY =
            run -> mebibytes(run.halves().agentPeakBytes());
    private static final MeasuredValue<EdgeTrial> MEMORY_OF_PRODUCER =
            run -> mebibytes(run.producers().producerPeakBytes());
    private static final MeasuredValue<EdgeTrial> MEMORY_OF_CLUSTER =
            run -> mebibytes(run.miniCluster().miniClusterPeakBytes());

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
                atMost("bytes over the links, to the whole job", AIM_BYTES, "x", LIVE, BYTES)
                        .asHeadline(),
                atMost(
                        "bytes over the links, to a Kafka producer with JSON, zstd and linger 1 s",
                        AIM_BYTES,
                        "x",
                        PRODUCER,
                        BYTES),
                atMost(
                        "resident memory of an agent",
                        EdgeKind.AGENT_BYTES_MAX / MIB,
                        " MiB",
                        LIVE,
                        MEMORY),
                atMost(
                        "resident memory of an agent, to a Flink MiniCluster",
                        AIM_MEMORY,
                        "x",
                        MINI_CLUSTER,
                        EdgeTrial::memoryRatio),
                aim(
                        "lines for a CPU second of the agents, to a Flink MiniCluster",
                        "%s: at least %s%s",
                        true,
                        AIM_CPU,
                        "x",
                        MINI_CLUSTER,
                        EdgeTrial::linesPerCpuRatio));
    }

    private Aim atMost(
            String measure,
            double bound,
            String unit,
            EdgeVariant of,
            MeasuredValue<EdgeTrial> figure) {
        return aim(measure, "%s: at most %s%s", false, bound, unit, of, figure);
    }

    private Aim aim(
            String measure,
            String goal,
            boolean moreIsBetter,
            double bound,
            String unit,
            EdgeVariant of,
            MeasuredValue<EdgeTrial> figure) {
        List<Aim.Value> medians =
                kinds(of).flatMap(kind -> value(kind, kind.text(), values(kind, figure))).toList();
        return new Aim(
                measure,
                goal.formatted(measure, bound, unit),
                moreIsBetter,
                bound,
                unit,
                medians,
                COMMAND);
    }

    private static @Nullable Double mebibytes(@Nullable Long bytes) {
        return bytes == null ? null : bytes / MIB;
    }

    private Stream<Kind> kinds(EdgeVariant variant) {
        return kinds().filter(kind -> kind.variant == variant);
    }

    @Override
    protected Stream<String> tables() {
        List<String> header = header("bytes to the whole job", "whole job: median, ms");
        List<String> more =
                Stream.concat(
                                header("bytes to the producers", "producers: median, ms").stream(),
                                Stream.of(
                                        "producer, MiB", "lines for a CPU second of the producers"))
                        .toList();
        return Stream.of(
                table(
                        LIVE,
                        "A city's cars in eight districts, each a site: windows of 10 s. Median of the runs [lowest..highest]:",
                        header,
                        this::row),
                table(
                        PRODUCER,
                        "The same beside a Kafka producer at each site, in a JVM of its own, with JSON, zstd and linger 1 s, whose topic the whole job reads:",
                        more,
                        this::rowWithProducers),
                table(
                        MINI_CLUSTER,
                        "The agents of the same job beside one Flink MiniCluster that does the whole job for all sites, on files, as fast as it can:",
                        List.of(
                                "links of the agents",
                                "rows",
                                "agent, MiB",
                                "MiniCluster, MiB",
                                "agent to MiniCluster",
                                CPU,
                                "of the MiniCluster",
                                "agents to MiniCluster"),
                        this::rowWithMiniCluster));
    }

    private List<String> rowWithMiniCluster(Kind kind) {
        return List.of(
                kind.text(),
                rightRows(kind),
                range(kind, MEMORY),
                range(kind, MEMORY_OF_CLUSTER),
                range(kind, EdgeTrial::memoryRatio),
                range(kind, EdgeTrial::linesPerCpuS),
                range(kind, EdgeTrial::linesPerMiniClusterCpuS),
                range(kind, EdgeTrial::linesPerCpuRatio));
    }

    private String rightRows(Kind kind) {
        return TrialHistory.counts(
                of(kind).stream().map(run -> Boolean.TRUE.equals(run.outcome().equal())));
    }

    private static List<String> header(String bytes, String ageOfWhole) {
        return List.of(
                "links",
                "rows",
                bytes,
                "age of results, median, ms",
                "99 %, ms",
                ageOfWhole,
                "99 %, ms",
                "agent, MiB",
                CPU);
    }

    /** Nothing where nothing is recorded. */
    private String table(
            EdgeVariant of, String caption, List<String> header, Function<Kind, List<String>> row) {
        return kinds(of).findAny().isEmpty()
                ? ""
                : caption + "\n\n" + table(kinds(of), header, row);
    }

    private List<String> rowWithProducers(Kind kind) {
        return Stream.concat(
                        row(kind).stream(),
                        Stream.of(
                                range(kind, MEMORY_OF_PRODUCER),
                                range(kind, EdgeTrial::linesPerProducerCpuS)))
                .toList();
    }

    private List<String> row(Kind kind) {
        return List.of(
                kind.text(),
                rightRows(kind),
                range(kind, BYTES),
                range(kind, run -> run.halves().halvesAgeP50Ms()),
                range(kind, run -> run.halves().halvesAgeP99Ms()),
                range(kind, run -> run.whole().wholeAgeP50Ms()),
                range(kind, run -> run.whole().wholeAgeP99Ms()),
                range(kind, MEMORY),
                range(kind, EdgeTrial::linesPerCpuS));
    }
}
