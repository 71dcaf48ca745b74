package io.afterbay.experiments.desync;

import io.afterbay.cli.process.KafkaClassPath;
import io.afterbay.cli.process.KafkaLauncher;
import io.afterbay.cli.process.WorkerJvm;
import io.afterbay.command.CommandFailure;
import io.afterbay.experiments.ThirdProcess;
import io.afterbay.experiments.TrialWorker;
import io.afterbay.workloads.wordcount.OpenLoopPlan;
import io.afterbay.workloads.wordcount.OpenLoopReport;
import io.afterbay.workloads.wordcount.WordCountPlan;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The second process of the experiment about aligned instances, for Kafka Streams: starts a third
 * one with its libraries, passes on how far that is, and reads RocksDB's logs at its end.
 */
final class KafkaDesyncWorker extends TrialWorker<DesyncPlan, DesyncTrial> {
    private static final String LOG = "kafka.log";
    private static final String HEAP = "-Xmx1g";
    private static final String NAME = "wc";

    /** So that the files of an attempt are told from others by RocksDB, too. */
    private static final String FIRST_LOOP = NAME + "-1";

    private static final long SEED = 1;

    /** Since nothing else flushes at commits. */
    private static final Map<String, String> SETTINGS =
            Map.of("processing.guarantee", "at_least_once");

    private KafkaDesyncWorker(Start<DesyncPlan> start) {
        super(start);
    }

    public static void main(String[] args) throws Exception {
        main(DesyncPlan.class, KafkaDesyncWorker::new);
    }

    @Override
    protected DesyncTrial trial() throws Exception {
        if (plan.cure().isUnsynced()) {
            UnsyncedFiles.checkLoaded();
        }
        return trial(report());
    }

    @Override
    protected DesyncTrial failed(String reason) {
        return plan.trial().failed(reason);
    }

    private OpenLoopReport report() throws CommandFailure, IOException, InterruptedException {
        return new ThirdProcess(
                        "Kafka",
                        kafka(),
                        directory.resolve(LOG),
                        HEAP,
                        "use fewer --subtasks or a smaller --vocabulary")
                .run(this::builder, openLoop(), OpenLoopReport.class, handover);
    }

    /** RocksDB names files by their path: a short one. */
    private Path kafka() {
        return directory.resolve("k");
    }

    private ProcessBuilder builder() throws CommandFailure {
        return KafkaLauncher.builder(
                "OpenLoopWorker",
                HEAP,
                kafka(),
                directory,
                engine.verbose(),
                directory.resolve(LOG));
    }

    private OpenLoopPlan openLoop() throws CommandFailure {
        return new OpenLoopPlan(
                application(),
                plan.engine() == DesyncEngine.KAFKA_STREAMS_4_2
                        ? KafkaClassPath.before43()
                        : KafkaClassPath.read(),
                WorkerJvm.options(),
                DesyncOverlap.latencyFile(directory).toString(),
                plan.targetBusy(),
                plan.warmUpMs(),
                plan.attemptMs(),
                plan.openMs());
    }

    private WordCountPlan application() {
        DesyncTrial.Setting setting = plan.setting();
        Map<String, String> settings = new LinkedHashMap<>(SETTINGS);
        settings.put("commit.interval.ms", Long.toString(setting.intervalMs()));
        settings.putAll(KafkaCure.settings(plan));
        settings.putAll(engine.properties());
        return new WordCountPlan(
                null,
                NAME,
                0,
                plan.ratePerS(),
                plan.vocabulary(),
                0,
                SEED,
                setting.subtasks(),
                Runtime.getRuntime().availableProcessors(),
                false,
                settings);
    }

    private DesyncTrial trial(OpenLoopReport report) throws IOException {
        if (!plan.isOpenLoop()) {
            return plan.trial()
                    .with(
                            value(report.wordsPerS()),
                            value(report.cpuUsPerWord()),
                            DesyncTrial.Latency.of(value(report.ratePerS()), value(report.busy())));
        }
        return plan.trial()
                .with(
                        String.valueOf(report.counts()),
                        latency(report),
                        DesyncOverlap.of(
                                directory,
                                kafka().resolve(FIRST_LOOP),
                                report.windows(),
                                plan.keep()),
                        gate(report.gate()),
                        new DesyncTrial.Pools(report.flushThreads(), report.compactionThreads()));
    }

    private static double value(@Nullable Double of) {
        return of == null ? 0 : of;
    }

    private static DesyncTrial.Latency latency(OpenLoopReport report) {
        return new DesyncTrial.Latency(
                report.ratePerS(),
                report.p50Ms(),
                report.p90Ms(),
                report.p95Ms(),
                report.p99Ms(),
                report.p999Ms(),
                report.maxMs(),
                null,
                report.busy(),
                report.mostWaiting());
    }

    private static DesyncTrial.Gate gate(OpenLoopReport.@Nullable Gate gate) {
        return gate == null
                ? DesyncTrial.Gate.NONE
                : new DesyncTrial.Gate(gate.holds(), gate.heldMs(), gate.delayMs());
    }
}
