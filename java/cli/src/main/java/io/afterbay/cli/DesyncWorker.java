package io.afterbay.cli;

import io.afterbay.bench.DesyncTrial;
import io.afterbay.cli.doctor.analysis.Diagnosis;
import io.afterbay.cli.doctor.reading.LatencyLog;
import io.afterbay.cli.doctor.reading.LogReading;
import io.afterbay.cli.doctor.report.DoctorPage;
import io.afterbay.cli.doctor.report.Report;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
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
            Target target = plan.target();
            PhaseRun.warmUp(engine, target, Duration.ofMillis(plan.warmUpMs()));
            deleteLogs();
            handover.trial(
                    plan.isOpenLoop() ? openLoop(engine, target) : closedLoop(engine, target));
            return ExitCode.OK;
        } catch (Exception e) {
            if (arguments.verbose) {
                e.printStackTrace();
            }
            handover.trial(plan.trial().failed(Failures.explain(e, directory.toString())));
            return ExitCode.FAILURE;
        }
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

    private DesyncTrial closedLoop(EmbeddedEngine engine, Target target) throws Exception {
        Phase phase = Phase.closedLoop(target);
        ClosedLoopMeter meter = new ClosedLoopMeter(phase, null);
        PhaseRun run = PhaseRun.fresh(engine, target, phase, meter);
        run.toItsEnd();
        LoopFigures figures = meter.figures(run.statistics());
        if (figures == null) {
            throw new CommandFailure("the closed loop ended within its ramp-up");
        }
        return plan.trial().with(meter.rows(), figures.eventsPerS());
    }

    private DesyncTrial openLoop(EmbeddedEngine engine, Target target) throws Exception {
        Phase phase = Phase.openLoop(target, plan.ratePerS(), plan.openMs());
        OpenLoopMeter meter = new OpenLoopMeter(phase);
        PhaseRun run = PhaseRun.fresh(engine, target, phase, meter);
        LoopMoment start = LoopMoment.now(0);
        run.toItsEnd();
        LoopMoment end = LoopMoment.end(run.statistics());
        return plan.trial().with(meter.rows(), latency(meter, start, end), overlap(meter));
    }

    private DesyncTrial.Latency latency(OpenLoopMeter meter, LoopMoment start, LoopMoment end) {
        return new DesyncTrial.Latency(
                plan.ratePerS(),
                meter.latencyMs(50),
                meter.latencyMs(95),
                meter.latencyMs(99),
                meter.latencyMs(99.9),
                meter.latencyMs(100),
                (double) (end.cpuNanos() - start.cpuNanos()) / (end.nanos() - start.nanos()));
    }

    private DesyncTrial.Overlap overlap(OpenLoopMeter meter) throws IOException {
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
                found.compactions().count(),
                found.mostInstancesPerSlot(),
                found.overlap().mostInstances(),
                found.overlap().ofFlushesWithAny(),
                found.stalls());
    }

    private static @Nullable Double orNull(OptionalDouble value) {
        return value.isPresent() ? value.getAsDouble() : null;
    }

    /** Null if it says too little for the doctor. */
    private @Nullable LatencyLog latencyLog(OpenLoopMeter meter) throws IOException {
        List<String> lines = new ArrayList<>();
        List<@Nullable Double> worst = meter.worstMsPerWindow();
        for (int window = 0; window < worst.size(); window++) {
            Double millis = worst.get(window);
            if (millis != null) {
                double seconds =
                        (meter.startEpochMillis() + (long) window * OpenLoopMeter.WINDOW_MS) / 1e3;
                lines.add(String.format(Locale.ROOT, "%.3f,%.3f", seconds, millis));
            }
        }
        Files.write(latencyFile(), lines);
        return lines.size() < 2 ? null : LatencyLog.read(latencyFile());
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
