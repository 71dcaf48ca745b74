package io.afterbay.experiments.blobcluster;

import io.afterbay.bench.Aim;
import io.afterbay.bench.MeasuredValue;
import io.afterbay.bench.Numbers;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.bench.ResultsPage;
import io.afterbay.bench.TrialHistory;
import io.afterbay.bench.TrialPage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The tables about the blob store on three nodes, in Markdown, with what is aimed at and whether it
 * is met.
 */
public final class ClusterPage extends TrialPage<ClusterPage.Kind, ClusterTrial> {
    private static final String COMMAND = "./afterbay bench blob-cluster";
    private static final String CONTROL = ClusterVariant.CONTROL.label();
    private static final long MEBIBYTE = 1 << 20;
    private static final double AIM_P99 = 3;
    private static final double AIM_WHOLE_S = 60;
    private static final double MS_PER_S = 1000;

    private static final MeasuredValue<ClusterTrial> ERRORS = run -> real(run.outcome().errors());
    private static final MeasuredValue<ClusterTrial> WHOLE_S =
            run -> {
                Double ms = run.kill().wholeAfterMs();
                return ms == null ? null : ms / MS_PER_S;
            };

    /** The slower one of the phases with the node away and with the node back, to the calm one. */
    private static final MeasuredValue<ClusterTrial> P99_GROWTH =
            run -> {
                Double calm = run.kill().calmP99Ms();
                Double away = run.kill().awayP99Ms();
                Double back = run.kill().backP99Ms();
                return calm == null || away == null || back == null || calm == 0
                        ? null
                        : Double.valueOf(Math.max(away, back) / calm);
            };

    /** Runs of one kind. */
    record Kind(ClusterTrial.Setting setting) {
        private static final Comparator<Kind> ORDER =
                Comparator.comparing(
                        Kind::setting,
                        Comparator.comparing(ClusterTrial.Setting::operation)
                                .thenComparing(ClusterTrial.Setting::sizeBytes)
                                .thenComparing(ClusterTrial.Setting::clients)
                                .thenComparing(ClusterTrial.Setting::ratePerS)
                                .thenComparing(ClusterTrial.Setting::phaseMs)
                                .thenComparing(ClusterTrial.Setting::variant));

        private static Kind of(ClusterTrial trial) {
            ClusterTrial.Setting of = trial.setting();
            return new Kind(of.as(of.variant(), 0));
        }

        private boolean isKill() {
            return setting.isKill();
        }

        private boolean isControl() {
            return setting.variant().equals(CONTROL);
        }

        private String text() {
            String what =
                    "%s, %s, %d %s"
                            .formatted(
                                    setting.operation(),
                                    size(),
                                    setting.clients(),
                                    setting.clients() == 1 ? "client" : "clients");
            return isKill()
                    ? what
                            + String.format(
                                    Locale.ROOT,
                                    ", %,d/s, phases of %s",
                                    setting.ratePerS(),
                                    Numbers.duration(setting.phaseMs()))
                    : what;
        }

        private String size() {
            return setting.sizeBytes() % MEBIBYTE == 0
                    ? setting.sizeBytes() / MEBIBYTE + " MiB"
                    : Numbers.format(setting.sizeBytes() / 1024.0) + " KiB";
        }
    }

    public ClusterPage(List<RecordedTrial<ClusterTrial>> recorded) {
        super(recorded, Kind::of, Kind.ORDER);
    }

    public static List<RecordedTrial<ClusterTrial>> read(Path directory) throws IOException {
        return read(directory, "blob-cluster", ClusterTrial.class);
    }

    private static @Nullable Double real(@Nullable Long count) {
        return count == null ? null : Double.valueOf(count.doubleValue());
    }

    @Override
    public List<Aim> aims() {
        return List.of(
                atMost(
                        "three nodes, one is killed and comes back: requests that failed",
                        0,
                        "",
                        ERRORS,
                        this::most),
                atMost(
                        "three nodes, one is killed and comes back: P99 to that of before",
                        AIM_P99,
                        "x",
                        P99_GROWTH,
                        this::median),
                atMost(
                        "three nodes, one is killed and comes back: all copies are there after its start",
                        AIM_WHOLE_S,
                        " s",
                        WHOLE_S,
                        this::median));
    }

    private Aim atMost(
            String measure,
            double bound,
            String unit,
            MeasuredValue<ClusterTrial> figure,
            BiFunction<Kind, double[], Stream<Aim.Value>> summary) {
        String goal = "%s: at most %s%s".formatted(measure, bound, unit);
        List<Aim.Value> values =
                kinds().filter(kind -> kind.isKill() && !kind.isControl())
                        .flatMap(kind -> summary.apply(kind, values(kind, figure)))
                        .toList();
        return new Aim(measure, goal, false, bound, unit, values, COMMAND);
    }

    private Stream<Aim.Value> median(Kind kind, double[] runs) {
        return value(kind, kind.text(), runs);
    }

    /** One run that is worse is too many. */
    private Stream<Aim.Value> most(Kind kind, double[] runs) {
        return Arrays.stream(runs).max().stream()
                .mapToObj(most -> value(kind, kind.text(), most, runs.length));
    }

    @Override
    protected Stream<String> tables() {
        return Stream.of(rates(), kills());
    }

    private List<Kind> of(boolean kill) {
        return kinds().filter(kind -> kind.isKill() == kill).toList();
    }

    private String rates() {
        List<String> header =
                List.of(
                        "setting",
                        "variant",
                        "requests/s",
                        "MB/s",
                        "P50, ms",
                        "P90, ms",
                        "P99, ms",
                        "P99.9, ms",
                        "CPU of all nodes, us/request",
                        "CPU-s/GB",
                        "client, CPU-s/GB",
                        "RSS of all nodes, MiB",
                        "written to disk, bytes/request",
                        "objects");
        List<Kind> all = of(false);
        return all.isEmpty()
                ? ""
                : "Closed loop: each client has one request at a time, at one of the nodes. Median of the runs"
                        + " [lowest..highest]:\n\n"
                        + table(all.stream(), header, this::rate);
    }

    private List<String> rate(Kind kind) {
        return List.of(
                kind.text(),
                kind.setting.variant(),
                range(kind, run -> run.rates().requestsPerS()),
                range(kind, run -> run.rates().mbPerS()),
                range(kind, run -> run.rates().p50Ms()),
                range(kind, run -> run.rates().p90Ms()),
                range(kind, run -> run.rates().p99Ms()),
                range(kind, run -> run.rates().p999Ms()),
                range(kind, run -> run.cost().nodesCpuUsPerRequest()),
                range(kind, run -> run.cost().nodesCpuSecondsPerGb()),
                range(kind, run -> run.cost().clientCpuSecondsPerGb()),
                range(kind, run -> run.cost().nodesRssMib()),
                range(kind, run -> run.cost().writtenBytesPerRequest()),
                objects(kind));
    }

    private String kills() {
        List<String> header =
                List.of(
                        "setting",
                        "variant",
                        "requests that failed",
                        "P50 before, ms",
                        "P99 before, ms",
                        "P99 with the node away, ms",
                        "longest, ms",
                        "P99 from its start, ms",
                        "longest, ms",
                        "all copies are there after its start, s",
                        "under-replicated, bytes",
                        "objects");
        List<Kind> all = of(true);
        return all.isEmpty()
                ? ""
                : "A node is killed with -9 and comes back, while clients at the other two put and get by a"
                        + " schedule; latency counts from when a request was due. Median of the runs"
                        + " [lowest..highest]:\n\n"
                        + table(all.stream(), header, this::kill);
    }

    private List<String> kill(Kind kind) {
        return List.of(
                kind.text(),
                kind.setting.variant(),
                range(kind, ERRORS),
                range(kind, run -> run.kill().calmP50Ms()),
                range(kind, run -> run.kill().calmP99Ms()),
                range(kind, run -> run.kill().awayP99Ms()),
                range(kind, run -> run.kill().awayMaxMs()),
                range(kind, run -> run.kill().backP99Ms()),
                range(kind, run -> run.kill().backMaxMs()),
                range(kind, WHOLE_S),
                range(kind, run -> real(run.kill().underReplicatedBytes())),
                objects(kind));
    }

    /** Of the control, some have to be lost. */
    private String objects(Kind kind) {
        List<ClusterTrial> runs = of(kind);
        if (runs.isEmpty()) {
            return ResultsPage.MISSING;
        }
        if (!kind.isControl()) {
            return TrialHistory.counts(runs.stream().map(ClusterTrial::counts));
        }
        return runs.stream().allMatch(ClusterPage::hasLost)
                ? "lost, as they should be"
                : "**not lost**, and should be";
    }

    private static boolean hasLost(ClusterTrial run) {
        Long lost = run.outcome().lost();
        return lost != null && lost > 0;
    }
}
