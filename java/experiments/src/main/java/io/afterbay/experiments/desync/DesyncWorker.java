package io.afterbay.experiments.desync;

import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.EmbeddedEngine;
import io.afterbay.cli.engine.EngineArguments;
import io.afterbay.cli.engine.Failures;
import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.cli.measure.Phase;
import io.afterbay.cli.measure.PhaseRun;
import io.afterbay.cli.measure.Target;
import io.afterbay.cli.measure.TrafficJamTarget;
import io.afterbay.cli.process.JsonHandover;
import io.afterbay.cli.process.Signals;
import io.afterbay.cli.process.WorkDirectory;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import io.afterbay.handover.Handover;
import io.afterbay.rocksdb.DesyncMetrics;
import io.afterbay.workloads.run.LatencyTimeline;
import io.afterbay.workloads.run.LoadSearch;
import io.afterbay.workloads.trafficjam.TrafficJamStatistics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import picocli.CommandLine;

/**
 * The second process of the experiment about aligned instances: warm-up, then one counted loop. An
 * open loop ends with a look at the logs that RocksDB wrote in it.
 */
final class DesyncWorker {
    /**
     * RocksDB names a log in another directory by the path of its database, which Flink adds to.
     */
    private static final int PATH_LENGTH_MAX = 100;

    /** What waits at the end of an attempt that was not too fast. */
    private static final Duration DRAIN = Duration.ofSeconds(1);

    private final EngineArguments arguments;
    private final Path directory;
    private final Handover handover;
    private final DesyncPlan plan;
    private final MemorySplit memory;

    DesyncWorker(EngineArguments arguments, CommandLine command, Path directory, DesyncPlan plan) {
        this.arguments = arguments;
        this.directory = directory;
        this.handover = JsonHandover.in(directory);
        this.plan = plan;
        arguments.backend = Backend.named(plan.backend());
        arguments.restartsMax = 0;
        plan.configure(arguments, command);
        this.memory = arguments.memorySplit(command);
        arguments.properties.addDefaults(plan.settings(databases(), logs()));
    }

    private Path databases() {
        return directory.resolve("db");
    }

    private Path logs() {
        return directory.resolve("rocksdb-logs");
    }

    int run() throws IOException {
        Signals.handle(code -> Runtime.getRuntime().halt(code));
        WorkDirectory.dieWithParent(directory);
        Files.createDirectories(logs());
        try (EmbeddedEngine engine = new EmbeddedEngine(arguments, memory, directory, false)) {
            checkLength();
            if (plan.cure().isUnsynced()) {
                UnsyncedFiles.checkLoaded();
            }
            engine.start();
            TrafficJamTarget target = plan.target();
            handover.trial(
                    plan.isOpenLoop() ? measured(engine, target) : calibrate(engine, target));
            return ExitCode.OK;
        } catch (Exception e) {
            if (arguments.verbose) {
                e.printStackTrace();
            }
            handover.trial(plan.trial().failed(Failures.explain(e, directory.toString())));
            return ExitCode.FAILURE;
        }
    }

    private DesyncTrial measured(EmbeddedEngine engine, TrafficJamTarget target) throws Exception {
        PhaseRun.warmUp(engine, target, Duration.ofMillis(plan.warmUpMs()));
        deleteLogs();
        return openLoop(engine, target);
    }

    private void checkLength() throws CommandFailure {
        if (databases().toString().length() > PATH_LENGTH_MAX) {
            throw new CommandFailure(
                    "%s has more than %d characters, and RocksDB's logs are named by it; use a shorter --work-dir"
                            .formatted(databases(), PATH_LENGTH_MAX));
        }
    }

    /** Those of the warm-up, whose instances are closed. */
    private void deleteLogs() throws IOException {
        for (Path log : DesyncOverlap.list(logs())) {
            Files.delete(log);
        }
    }

    /** Seeks the rate: what an event costs as fast as possible, then some checkpoints each. */
    private DesyncTrial calibrate(EmbeddedEngine engine, TrafficJamTarget target) throws Exception {
        CostMeter fast = asFastAsPossible(engine, target);
        LoadSearch search =
                new LoadSearch(
                        plan.targetBusy(),
                        Runtime.getRuntime().availableProcessors(),
                        fast.cpuUsPerEvent(),
                        fast.eventsPerS());
        boolean goesOn = true;
        while (goesOn) {
            goesOn = attempt(engine, target, search);
        }
        return plan.trial()
                .with(
                        fast.eventsPerS(),
                        fast.cpuUsPerEvent(),
                        DesyncTrial.Latency.of(search.ratePerS(), search.busy()));
    }

    /** Warmed up for half of the time, counted in the other half. */
    private CostMeter asFastAsPossible(EmbeddedEngine engine, Target target) throws Exception {
        Duration half = Duration.ofMillis(plan.warmUpMs() / 2);
        PhaseRun.warmUp(engine, target, half);
        TrafficJamStatistics.forget(Phase.warmUp().name());
        CostMeter meter = new CostMeter();
        PhaseRun.fresh(engine, target, Phase.warmUp(), meter).forAWhile(half);
        if (meter.cpuUsPerEvent() == 0) {
            throw new CommandFailure("no event came in the warm-up; use a longer --warmup");
        }
        return meter;
    }

    /** Ends on time, whatever waits then. */
    private boolean attempt(EmbeddedEngine engine, TrafficJamTarget target, LoadSearch search)
            throws Exception {
        double ratePerS = search.ratePerS();
        Phase phase = plan.attempt(ratePerS);
        Duration time = Duration.ofMillis((long) (phase.events() / ratePerS * 1e3)).plus(DRAIN);
        try (DesyncMeter meter = meter(phase)) {
            PhaseRun.fresh(engine, target, phase, meter).forAWhile(time);
            meter.close();
            Double busy = meter.timeline().busy();
            return search.tried(busy == null ? 0 : busy, meter.timeline().arrivedPerS());
        }
    }

    private static DesyncMeter meter(Phase phase) {
        TrafficJamStatistics.forget(phase.name()); // of the attempt before
        return new DesyncMeter(phase, TrafficJamStatistics.of(phase.name()));
    }

    private DesyncTrial openLoop(EmbeddedEngine engine, TrafficJamTarget target) throws Exception {
        Phase phase = plan.openLoop();
        try (DesyncMeter meter = meter(phase)) {
            PhaseRun.fresh(engine, target, phase, meter).toItsEnd();
            meter.close();
            return plan.trial()
                    .with(meter.rows(), latency(meter), overlap(meter), gate(meter), pools(meter));
        }
    }

    private DesyncTrial.Latency latency(DesyncMeter meter) {
        LatencyTimeline timeline = meter.timeline();
        return new DesyncTrial.Latency(
                plan.ratePerS(),
                timeline.latencyMs(50),
                timeline.latencyMs(90),
                timeline.latencyMs(95),
                timeline.latencyMs(99),
                timeline.latencyMs(99.9),
                timeline.latencyMs(100),
                meter.maxRankingMs(),
                timeline.busy(),
                timeline.mostWaiting());
    }

    private static DesyncTrial.Gate gate(DesyncMeter meter) {
        DesyncMetrics counted = meter.counted();
        return counted == null
                ? DesyncTrial.Gate.NONE
                : new DesyncTrial.Gate(
                        counted.holds(), counted.heldNanos() / 1e6, counted.delayNanos() / 1e6);
    }

    private DesyncTrial.Pools pools(DesyncMeter meter) {
        return plan.cure() == DesyncCure.AFTERBAY
                ? DesyncTrial.Pools.NONE
                : new DesyncTrial.Pools(meter.flushThreads(), meter.compactionThreads());
    }

    private DesyncTrial.Overlap overlap(DesyncMeter meter) throws IOException {
        if (plan.cure() == DesyncCure.AFTERBAY) {
            return DesyncTrial.Overlap.NONE;
        }
        int windows = meter.timeline().write(DesyncOverlap.latencyFile(directory));
        return DesyncOverlap.of(directory, logs(), windows, plan.keep());
    }
}
