package io.afterbay.cli;

import io.afterbay.bench.DesyncTrial;
import io.afterbay.cli.doctor.analysis.Diagnosis;
import io.afterbay.cli.doctor.analysis.LatencyEffect;
import io.afterbay.cli.doctor.reading.LatencyLog;
import io.afterbay.cli.doctor.reading.LogReading;
import io.afterbay.cli.doctor.report.DoctorPage;
import io.afterbay.cli.doctor.report.Report;
import io.afterbay.maintenance.ConcurrencyKnee;
import io.afterbay.rocksdb.DesyncMetrics;
import io.afterbay.workloads.trafficjam.TrafficJamStatistics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
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

    /** Of the most that it does: where disks are the limit, processors never get as busy. */
    private static final double BEARABLE = 0.9;

    private final EngineArguments arguments;
    private final Path directory;
    private final Handover handover;
    private final DesyncPlan plan;
    private final MemorySplit memory;

    DesyncWorker(EngineArguments arguments, CommandLine command) throws IOException {
        this.arguments = arguments;
        this.directory = WorkDirectory.ofWorker().orElseThrow();
        this.handover = new Handover(directory);
        this.plan = handover.plan(DesyncPlan.class);
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
        for (Path log : list(logs())) {
            Files.delete(log);
        }
    }

    private static List<Path> list(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }

    /** Seeks the rate: what an event costs as fast as possible, then some checkpoints each. */
    private DesyncTrial calibrate(EmbeddedEngine engine, TrafficJamTarget target) throws Exception {
        CostMeter fast = asFastAsPossible(engine, target);
        LoadSearch search =
                new LoadSearch(
                        plan.targetBusy(),
                        Runtime.getRuntime().availableProcessors(),
                        fast.cpuUsPerEvent());
        double mostPerS = BEARABLE * fast.eventsPerS();
        boolean goesOn = true;
        while (goesOn) {
            double ratePerS = Math.min(mostPerS, search.ratePerS());
            goesOn = search.tried(busyAt(engine, target, ratePerS));
        }
        return plan.trial()
                .with(
                        fast.eventsPerS(),
                        fast.cpuUsPerEvent(),
                        DesyncTrial.Latency.of(
                                Math.min(mostPerS, search.ratePerS()), search.busy()));
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

    private double busyAt(EmbeddedEngine engine, TrafficJamTarget target, double ratePerS)
            throws Exception {
        Phase phase = plan.openLoop(ratePerS, plan.attemptMs());
        try (DesyncMeter meter = meter(phase)) {
            PhaseRun.fresh(engine, target, phase, meter).toItsEnd();
            meter.close();
            Double busy = meter.busy();
            return busy == null ? 0 : busy;
        }
    }

    private static DesyncMeter meter(Phase phase) {
        TrafficJamStatistics.forget(phase.name()); // of the attempt before
        return new DesyncMeter(phase, TrafficJamStatistics.of(phase.name()));
    }

    private DesyncTrial openLoop(EmbeddedEngine engine, TrafficJamTarget target) throws Exception {
        Phase phase = plan.openLoop(plan.ratePerS(), plan.openMs());
        try (DesyncMeter meter = meter(phase)) {
            PhaseRun.fresh(engine, target, phase, meter).toItsEnd();
            meter.close();
            return plan.trial().with(meter.rows(), latency(meter), overlap(meter), gate(meter));
        }
    }

    private DesyncTrial.Latency latency(DesyncMeter meter) {
        return new DesyncTrial.Latency(
                plan.ratePerS(),
                meter.latencyMs(50),
                meter.latencyMs(95),
                meter.latencyMs(99),
                meter.latencyMs(99.9),
                meter.latencyMs(100),
                meter.maxRankingMs(),
                meter.busy(),
                meter.mostWaiting());
    }

    private static DesyncTrial.Gate gate(DesyncMeter meter) {
        DesyncMetrics counted = meter.counted();
        return counted == null
                ? DesyncTrial.Gate.NONE
                : new DesyncTrial.Gate(
                        counted.holds(), counted.heldNanos() / 1e6, counted.delayNanos() / 1e6);
    }

    private DesyncTrial.Overlap overlap(DesyncMeter meter) throws IOException {
        LogReading.Logs logs = LogReading.read(List.of(logs()), line -> {});
        LatencyLog latency = latencyLog(meter);
        Diagnosis found = Diagnosis.of(logs.instances(), latency);
        if (plan.keep() != null) {
            keep(Path.of(plan.keep()), Report.of(found, logs.tally(), latency));
        }
        return new DesyncTrial.Overlap(
                found.verdict().name(),
                orNull(found.withinStages()),
                found.instances().size(),
                found.flushes().count(),
                forCheckpoints(found),
                found.compactions().count(),
                found.rhythm().longestWaveMicros() / 1e3,
                found.mostInstancesPerSlot(),
                found.overlap().mostInstances(),
                found.overlap().ofFlushesWithAny(),
                kneeThreads(found),
                found.stalls());
    }

    private static @Nullable Double forCheckpoints(Diagnosis found) {
        long asked =
                found.instances().stream()
                        .flatMap(instance -> instance.columnFamilies().stream())
                        .mapToLong(family -> family.checkpointFlushes().size())
                        .sum();
        return found.flushes().count() == 0 ? null : (double) asked / found.flushes().count();
    }

    private static @Nullable Integer kneeThreads(Diagnosis found) {
        return found.latency()
                .map(LatencyEffect::threads)
                .filter(threads -> threads.verdict() == ConcurrencyKnee.Verdict.KNEE)
                .map(ConcurrencyKnee.Recommendation::limit)
                .orElse(null);
    }

    private static @Nullable Double orNull(OptionalDouble value) {
        return value.isPresent() ? value.getAsDouble() : null;
    }

    /** Null if it says too little for the doctor. */
    private @Nullable LatencyLog latencyLog(DesyncMeter meter) throws IOException {
        List<String> lines =
                meter.windows().stream()
                        .filter(window -> window.worstMs() != null)
                        .map(DesyncWorker::line)
                        .toList();
        Files.write(latencyFile(), List.of("time_ms,latency_ms,cpu,queue"));
        Files.write(latencyFile(), lines, StandardOpenOption.APPEND);
        return lines.size() < 2 ? null : LatencyLog.read(latencyFile());
    }

    private static String line(DesyncMeter.Window window) {
        return String.format(
                Locale.ROOT,
                "%d,%.3f,%.2f,%d",
                window.startMillis(),
                window.worstMs(),
                window.busy(),
                window.waiting());
    }

    private Path latencyFile() {
        return directory.resolve("latency.csv");
    }

    private void keep(Path folder, Report report) throws IOException {
        Path kept = Files.createDirectories(folder.resolve("logs"));
        for (Path log : list(logs())) {
            Files.copy(log, kept.resolve(log.getFileName()));
        }
        Files.copy(latencyFile(), folder.resolve("latency.csv"));
        Files.writeString(folder.resolve("doctor.html"), DoctorPage.of(report));
    }
}
