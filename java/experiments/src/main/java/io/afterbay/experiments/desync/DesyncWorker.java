package io.afterbay.experiments.desync;

import io.afterbay.cli.engine.EmbeddedEngine;
import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.measure.Phase;
import io.afterbay.cli.measure.PhaseRun;
import io.afterbay.cli.measure.Target;
import io.afterbay.cli.measure.TrafficJamTarget;
import io.afterbay.command.CommandFailure;
import io.afterbay.experiments.TrialWorker;
import io.afterbay.rocksdb.DesyncMetrics;
import io.afterbay.workloads.run.LatencyTimeline;
import io.afterbay.workloads.run.LoadSearch;
import io.afterbay.workloads.trafficjam.TrafficJamStatistics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The process of the experiment about aligned instances: warm-up, then one counted loop. An open
 * loop ends with a look at the logs that RocksDB wrote in it.
 */
final class DesyncWorker extends TrialWorker<DesyncPlan, DesyncTrial> {
    /**
     * RocksDB names a log in another directory by the path of its database, which Flink adds to.
     */
    private static final int PATH_LENGTH_MAX = 100;

    /** What waits at the end of an attempt that was not too fast. */
    private static final Duration DRAIN = Duration.ofSeconds(1);

    private DesyncWorker(Start<DesyncPlan> start) {
        super(start);
    }

    public static void main(String[] args) throws Exception {
        main(DesyncPlan.class, DesyncWorker::new);
    }

    private Path databases() {
        return directory.resolve("db");
    }

    private Path logs() {
        return directory.resolve("rocksdb-logs");
    }

    @Override
    protected DesyncTrial trial() throws Exception {
        Files.createDirectories(logs());
        EngineSettings settings = engine.withDefaults(plan.settings(databases(), logs()));
        try (EmbeddedEngine flink = new EmbeddedEngine(settings, directory, false)) {
            checkLength();
            if (plan.cure().isUnsynced()) {
                UnsyncedFiles.checkLoaded();
            }
            flink.start();
            TrafficJamTarget target = plan.target();
            return plan.isOpenLoop() ? measured(flink, target) : calibrate(flink, target);
        }
    }

    @Override
    protected DesyncTrial failed(String reason) {
        return plan.trial().failed(reason);
    }

    private DesyncTrial measured(EmbeddedEngine flink, TrafficJamTarget target) throws Exception {
        PhaseRun.warmUp(flink, target, Duration.ofMillis(plan.warmUpMs()));
        deleteLogs();
        return openLoop(flink, target);
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
    private DesyncTrial calibrate(EmbeddedEngine flink, TrafficJamTarget target) throws Exception {
        CostMeter fast = asFastAsPossible(flink, target);
        LoadSearch search =
                new LoadSearch(
                        plan.targetBusy(),
                        Runtime.getRuntime().availableProcessors(),
                        fast.cpuUsPerEvent(),
                        fast.eventsPerS());
        boolean goesOn = true;
        while (goesOn) {
            goesOn = attempt(flink, target, search);
        }
        return plan.trial()
                .with(
                        fast.eventsPerS(),
                        fast.cpuUsPerEvent(),
                        DesyncTrial.Latency.of(search.ratePerS(), search.busy()));
    }

    /** Warmed up for half of the time, counted in the other half. */
    private CostMeter asFastAsPossible(EmbeddedEngine flink, Target target) throws Exception {
        Duration half = Duration.ofMillis(plan.warmUpMs() / 2);
        PhaseRun.warmUp(flink, target, half);
        TrafficJamStatistics.forget(Phase.warmUp().name());
        CostMeter meter = new CostMeter();
        PhaseRun.fresh(flink, target, Phase.warmUp(), meter).forAWhile(half);
        if (meter.cpuUsPerEvent() == 0) {
            throw new CommandFailure("no event came in the warm-up; use a longer --warmup");
        }
        return meter;
    }

    /** Ends on time, whatever waits then. */
    private boolean attempt(EmbeddedEngine flink, TrafficJamTarget target, LoadSearch search)
            throws Exception {
        double ratePerS = search.ratePerS();
        Phase phase = plan.attempt(ratePerS);
        Duration time = Duration.ofMillis((long) (phase.events() / ratePerS * 1e3)).plus(DRAIN);
        try (DesyncMeter meter = meter(phase)) {
            PhaseRun.fresh(flink, target, phase, meter).forAWhile(time);
            meter.close();
            Double busy = meter.timeline().busy();
            return search.tried(busy == null ? 0 : busy, meter.timeline().arrivedPerS());
        }
    }

    private static DesyncMeter meter(Phase phase) {
        TrafficJamStatistics.forget(phase.name()); // of the attempt before
        return new DesyncMeter(phase, TrafficJamStatistics.of(phase.name()));
    }

    private DesyncTrial openLoop(EmbeddedEngine flink, TrafficJamTarget target) throws Exception {
        Phase phase = plan.openLoop();
        try (DesyncMeter meter = meter(phase)) {
            PhaseRun.fresh(flink, target, phase, meter).toItsEnd();
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
