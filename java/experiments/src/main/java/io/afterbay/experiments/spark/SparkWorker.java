package io.afterbay.experiments.spark;

import io.afterbay.cli.engine.EngineArguments;
import io.afterbay.cli.process.JsonHandover;
import io.afterbay.cli.process.Signals;
import io.afterbay.cli.process.WorkDirectory;
import io.afterbay.command.ByteSize;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import io.afterbay.experiments.ThirdProcess;
import io.afterbay.handover.Handover;
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
final class SparkWorker {
    private static final String LOG = "spark.log";

    private final EngineArguments arguments;
    private final Path directory;
    private final Handover handover;
    private final SparkPlan plan;

    SparkWorker(EngineArguments arguments, Path directory, SparkPlan plan) {
        this.arguments = arguments;
        this.directory = directory;
        this.handover = JsonHandover.in(directory);
        this.plan = plan;
    }

    int run() throws IOException, InterruptedException {
        Signals.handle(code -> Runtime.getRuntime().halt(code));
        WorkDirectory.dieWithParent(directory);
        try {
            handover.trial(trial(report()));
            return ExitCode.OK;
        } catch (CommandFailure e) {
            handover.trial(plan.trial().failed(CommandFailure.reason(e)));
            return ExitCode.FAILURE;
        }
    }

    private MicroBatchReport report() throws CommandFailure, IOException, InterruptedException {
        Path spark = directory.resolve("s");
        Path log = directory.resolve(LOG);
        return new ThirdProcess(
                        "Spark",
                        spark,
                        log,
                        heap().toString(),
                        "give it more --memory, or use a lower rate")
                .run(
                        () ->
                                SparkLauncher.builder(
                                        heap(), spark, directory, arguments.verbose, log),
                        planOfProcess(),
                        MicroBatchReport.class,
                        handover);
    }

    private ByteSize heap() {
        return SparkLauncher.heap(arguments.memory);
    }

    /** With a checkpoint of its own; what the user sets comes last. */
    private MicroBatchPlan planOfProcess() {
        Map<String, String> settings = new LinkedHashMap<>(plan.run().settings());
        settings.putAll(arguments.properties.given());
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
