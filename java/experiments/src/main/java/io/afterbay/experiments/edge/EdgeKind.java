package io.afterbay.experiments.edge;

import io.afterbay.bench.RecordedTrial;
import io.afterbay.command.CommandFailure;
import io.afterbay.experiments.RustPrograms;
import io.afterbay.experiments.TrialKind;
import io.afterbay.experiments.TrialWorker;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The experiment about edge-cloud applications.
 *
 * @param rounds see {@link TrialKind#rounds}
 * @param build how the program of the sites is compiled
 */
record EdgeKind(List<List<EdgePlan>> rounds, RustPrograms.Build build)
        implements TrialKind<EdgePlan, EdgeTrial> {
    /** Of the whole job's bytes, over the links. */
    static final double BYTES_MAX = 0.2;

    /** Resident memory of an agent. */
    static final long AGENT_BYTES_MAX = 30L << 20;

    @Override
    public String experiment() {
        return "edge";
    }

    @Override
    public Class<? extends TrialWorker<EdgePlan, EdgeTrial>> worker(EdgePlan plan) {
        return EdgeWorker.class;
    }

    @Override
    public Class<EdgeTrial> type() {
        return EdgeTrial.class;
    }

    @Override
    public void prepare() throws CommandFailure, InterruptedException {
        RustPrograms.build(build, List.of("afterbay-edge"));
    }

    @Override
    public EdgeTrial failed(EdgePlan plan, String reason) {
        return EdgeTrial.none(plan.setting()).failed(reason);
    }

    @Override
    public EdgeTrial failed(EdgeTrial run, String reason) {
        return run.failed(reason);
    }

    @Override
    public boolean isOf(EdgePlan plan, EdgeTrial run) {
        return run.setting().equals(plan.setting());
    }

    @Override
    public String describe(EdgeTrial run) {
        if (isControl(run)) {
            return Boolean.TRUE.equals(run.outcome().equal())
                    ? "rows equal, which they must not be"
                    : "rows differ, as they must: " + run.outcome().difference();
        }
        return "rows %s; %s of the bytes; age of results, median: %s s, whole job %s s; agents %s MiB, %s lines for a CPU second"
                        .formatted(
                                Boolean.TRUE.equals(run.outcome().equal()) ? "equal" : "differ",
                                figure(run.bytesRatio(), 1),
                                figure(run.halves().halvesAgeP50Ms(), 1e-3),
                                figure(run.whole().wholeAgeP50Ms(), 1e-3),
                                figure(mebibytes(run.halves().agentPeakBytes()), 1),
                                figure(run.linesPerCpuS(), 1))
                + producers(run)
                + miniCluster(run);
    }

    private static String miniCluster(EdgeTrial run) {
        return run.miniCluster().miniClusterPeakBytes() == null
                ? ""
                : "; MiniCluster %s MiB, %s lines for a CPU second"
                        .formatted(
                                figure(mebibytes(run.miniCluster().miniClusterPeakBytes()), 1),
                                figure(run.linesPerMiniClusterCpuS(), 1));
    }

    private static String producers(EdgeTrial run) {
        return run.producers().producerPeakBytes() == null
                ? ""
                : "; Kafka producers %s MiB, %s lines for a CPU second"
                        .formatted(
                                figure(mebibytes(run.producers().producerPeakBytes()), 1),
                                figure(run.linesPerProducerCpuS(), 1));
    }

    private static @Nullable Double mebibytes(@Nullable Long bytes) {
        return bytes == null ? null : bytes / (double) (1 << 20);
    }

    private static String figure(@Nullable Double value, double unit) {
        if (value == null) {
            return "-";
        }
        double shown = value * unit;
        return String.format(Locale.ROOT, shown < 10 ? "%.3f" : "%,.0f", shown);
    }

    private static boolean isControl(EdgeTrial run) {
        return EdgeVariant.named(run.setting().variant()) == EdgeVariant.GUESSED;
    }

    @Override
    public List<String> problems(EdgeTrial run) {
        boolean isEqual = Boolean.TRUE.equals(run.outcome().equal());
        if (isControl(run)) {
            return isEqual
                    ? List.of(
                            "rows are equal although watermarks were guessed: nothing is compared")
                    : List.of();
        }
        List<String> problems = new ArrayList<>();
        if (!isEqual) {
            problems.add("rows differ: " + run.outcome().difference());
        }
        if (EdgeVariant.named(run.setting().variant()) != EdgeVariant.MINI_CLUSTER) {
            problems.addAll(problemsOfLinks(run.bytesRatio()));
        }
        Long peak = run.halves().agentPeakBytes();
        if (peak != null && peak > AGENT_BYTES_MAX) {
            problems.add(
                    "an agent had %,d bytes resident, and at most %,d may be"
                            .formatted(peak, AGENT_BYTES_MAX));
        }
        return problems;
    }

    private static List<String> problemsOfLinks(@Nullable Double ratio) {
        if (ratio == null) {
            return List.of("nobody knows how many bytes the links carried");
        }
        return ratio <= BYTES_MAX
                ? List.of()
                : List.of(
                        String.format(
                                Locale.ROOT,
                                "the links carried %.3fx of the whole job's bytes, and at most %.1fx may be",
                                ratio,
                                BYTES_MAX));
    }

    @Override
    public String report(List<RecordedTrial<EdgeTrial>> trials) {
        return new EdgePage(trials).details();
    }
}
