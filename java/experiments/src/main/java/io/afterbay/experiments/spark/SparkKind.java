package io.afterbay.experiments.spark;

import io.afterbay.bench.RecordedTrial;
import io.afterbay.experiments.TrialKind;
import io.afterbay.experiments.TrialWorker;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The experiment about micro-batches of Spark whose commits go on behind them.
 *
 * @param rounds see {@link TrialKind#rounds}
 * @param batchesMin counted batches of a run
 */
record SparkKind(List<List<SparkPlan>> rounds, int batchesMin)
        implements TrialKind<SparkPlan, SparkTrial> {

    /** What the slow file system takes for a log file: to create, to close and to rename it. */
    private static final double SLOW_WRITE_MS = 40;

    @Override
    public String experiment() {
        return "spark";
    }

    @Override
    public Class<? extends TrialWorker<SparkPlan, SparkTrial>> worker(SparkPlan plan) {
        return SparkWorker.class;
    }

    @Override
    public Class<SparkTrial> type() {
        return SparkTrial.class;
    }

    @Override
    public SparkTrial failed(SparkPlan plan, String reason) {
        return plan.trial().failed(reason);
    }

    @Override
    public SparkTrial failed(SparkTrial run, String reason) {
        return run.failed(reason);
    }

    @Override
    public boolean isOf(SparkPlan plan, SparkTrial run) {
        return run.setting().equals(plan.setting());
    }

    @Override
    public String describe(SparkTrial run) {
        Double sustained = run.outcome().sustainedPerS();
        if (sustained != null) {
            return String.format(Locale.ROOT, "sustains %,.0f records/s", sustained);
        }
        return "%s batches; P50 %s, P90 %s, P99 %s, max %s ms; %s %% commit and log writes; rows %s"
                .formatted(
                        run.times().batches(),
                        figure(run.times().p50Ms()),
                        figure(run.times().p90Ms()),
                        figure(run.times().p99Ms()),
                        figure(run.times().maxMs()),
                        figure(run.parts().overheadPercent()),
                        isRight(run) ? "right" : "wrong");
    }

    private static String figure(@Nullable Double value) {
        return value == null ? "-" : String.format(Locale.ROOT, "%,.0f", value);
    }

    private static boolean isRight(SparkTrial run) {
        return Boolean.TRUE.equals(run.outcome().rowsRight());
    }

    @Override
    public List<String> problems(SparkTrial run) {
        if (run.setting().isSearch()) {
            return ofSearch(run);
        }
        List<String> problems = new ArrayList<>();
        SparkVariant variant = SparkVariant.named(run.setting().variant());
        if (variant == SparkVariant.CONTROL) {
            if (isRight(run)) {
                problems.add("the control passes: a record did not come, and nobody found it");
            }
        } else if (!isRight(run)) {
            problems.add("its rows are not those that plain Java says: " + run.outcome().rows());
        }
        Integer batches = run.times().batches();
        if (batches == null || batches < batchesMin) {
            problems.add(
                    "only %d batches were counted, of at least %d; use a longer --open"
                            .formatted(batches, batchesMin));
        }
        if (isOnSlow(run)) {
            problems.addAll(ofLogWrites(variant, run.parts()));
        }
        return problems;
    }

    /** Ours is on, and in its mode: the log is not written where the batch waits for it. */
    private static List<String> ofLogWrites(SparkVariant variant, SparkTrial.Parts parts) {
        List<String> problems = new ArrayList<>();
        if (variant.isOurs() && isWrittenInBatch(parts.commitOffsetsMs())) {
            problems.add("the commit is written in the batch, as without Afterbay");
        }
        if (variant.isPipelined() && isWrittenInBatch(parts.walCommitMs())) {
            problems.add("the offsets are written in the batch, as if not in pipelined mode");
        }
        return problems;
    }

    private static List<String> ofSearch(SparkTrial run) {
        Double sustained = run.outcome().sustainedPerS();
        return sustained == null || sustained == 0
                ? List.of("no rate is sustained; use fewer --partitions or longer --triggers")
                : List.of();
    }

    private static boolean isOnSlow(SparkTrial run) {
        return run.setting().dfs().equals(SparkDfs.SLOW.label());
    }

    private static boolean isWrittenInBatch(@Nullable Double writeMs) {
        return writeMs == null || writeMs >= SLOW_WRITE_MS;
    }

    @Override
    public String report(List<RecordedTrial<SparkTrial>> trials) {
        return new SparkPage(trials).details();
    }
}
