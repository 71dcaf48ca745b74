package io.afterbay.experiments.spark;

import io.afterbay.command.CommandFailure;
import io.afterbay.experiments.ThirdProcess;
import io.afterbay.experiments.TrialWorker;
import io.afterbay.workloads.microbatch.MicroBatchPlan;
import io.afterbay.workloads.microbatch.MicroBatchReport;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * The second process of the experiment on Spark: starts a third one with its libraries, passes on
 * how far that is, and makes its report a trial.
 */
final class SparkWorker extends TrialWorker<SparkPlan, SparkTrial> {
    private static final String LOG = "spark.log";

    private SparkWorker(Start<SparkPlan> start) {
        super(start);
    }

    public static void main(String[] args) throws Exception {
        main(SparkPlan.class, SparkWorker::new);
    }

    @Override
    protected SparkTrial trial() throws Exception {
        return trial(report());
    }

    @Override
    protected SparkTrial failed(String reason) {
        return plan.trial().failed(reason);
    }

    private MicroBatchReport report() throws CommandFailure, IOException, InterruptedException {
        Path spark = directory.resolve("s");
        Path log = directory.resolve(LOG);
        return new ThirdProcess(
                        "Spark",
                        spark,
                        log,
                        plan.heap().toString(),
                        "give it more --memory, or use a lower rate")
                .run(
                        () ->
                                SparkLauncher.builder(
                                        plan.heap(), spark, directory, engine.verbose(), log),
                        planOfProcess(),
                        MicroBatchReport.class,
                        handover);
    }

    /** With a checkpoint of its own; what the user sets comes last. */
    private MicroBatchPlan planOfProcess() {
        Map<String, String> settings = new LinkedHashMap<>(plan.run().settings());
        settings.putAll(engine.properties());
        return plan.run().on(directory.resolve("checkpoint").toString(), settings);
    }

    private SparkTrial trial(MicroBatchReport report) {
        if (report.sustainedPerS() != null) {
            return plan.trial().found(report.engine(), report.sustainedPerS());
        }
        String rows = Objects.requireNonNull(report.rows());
        return plan.trial()
                .with(
                        report.engine(),
                        rows,
                        rows.equals(report.expectedRows()),
                        times(Objects.requireNonNull(report.times())),
                        parts(report.partsMs()),
                        new SparkTrial.Snapshots(new TreeMap<>(report.bySnapshots())),
                        cost(Objects.requireNonNull(report.cost())));
    }

    private static SparkTrial.Times times(MicroBatchReport.Times of) {
        return new SparkTrial.Times(
                of.batches(),
                of.records(),
                of.p50Ms(),
                of.p90Ms(),
                of.p99Ms(),
                of.maxMs(),
                of.delayP50Ms(),
                of.delayP99Ms(),
                of.delayMaxMs());
    }

    private static SparkTrial.Parts parts(Map<String, Double> means) {
        return new SparkTrial.Parts(
                means.get("batch"),
                means.get("walCommit"),
                means.get("queryPlanning"),
                means.get("addBatch"),
                means.get("commitOffsets"),
                means.get("stateCommit"),
                means.get("flush"),
                means.get("compact"),
                means.get("checkpoint"),
                means.get("upload"),
                means.get("changelog"));
    }

    private static SparkTrial.Cost cost(MicroBatchReport.Cost of) {
        return new SparkTrial.Cost(of.cpuUsPerRecord(), of.busy(), of.rssMib(), of.gcMs());
    }
}
