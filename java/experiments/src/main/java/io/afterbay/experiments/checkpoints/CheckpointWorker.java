package io.afterbay.experiments.checkpoints;

import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.EmbeddedEngine;
import io.afterbay.cli.engine.EngineArguments;
import io.afterbay.cli.engine.Failures;
import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.cli.measure.LoopFigures;
import io.afterbay.cli.measure.LoopMoment;
import io.afterbay.cli.measure.Phase;
import io.afterbay.cli.measure.ResourceSampler;
import io.afterbay.cli.process.JsonHandover;
import io.afterbay.cli.process.ProcessFigures;
import io.afterbay.cli.process.Signals;
import io.afterbay.cli.process.WorkDirectory;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import io.afterbay.experiments.WorkerTicks;
import io.afterbay.experiments.checkpoints.CheckpointTrial.Checkpoint;
import io.afterbay.handover.Handover;
import io.afterbay.workloads.updates.UpdateJournal;
import io.afterbay.workloads.updates.UpdateOptions;
import io.afterbay.workloads.updates.UpdateReference;
import io.afterbay.workloads.updates.UpdateStatistics;
import io.afterbay.workloads.updates.Updates;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/**
 * The second process of the experiment about checkpoints. It runs one job through these phases,
 * which are all of the same job, as building the state takes longest:
 *
 * <pre>
 *   build      each key is written once
 *   warm-up    at full speed, until a checkpoint has been completed that has all of the state
 *   closed     at full speed, counted
 *   settle     at the fixed rate, until a checkpoint has been completed that began in it
 *   open       at the fixed rate, counted
 * </pre>
 */
final class CheckpointWorker {
    private static final String RUN = "checkpoints";
    private static final double BYTES_PER_MB = 1e6;

    private final EngineArguments arguments;
    private final Path directory;
    private final Handover handover;
    private final CheckpointPlan plan;
    private final MemorySplit memory;
    private final UpdateOptions options;
    private final WorkerTicks ticks = new WorkerTicks();
    private final UpdateStatistics statistics = UpdateStatistics.of(RUN);
    private CompletableFuture<Void> ended = new CompletableFuture<>();
    private @Nullable LoopFigures closed;
    private List<Checkpoint> closedCheckpoints = List.of();
    private List<Checkpoint> openCheckpoints = List.of();
    private @Nullable Double behindMs;

    CheckpointWorker(EngineArguments arguments, CommandLine command) throws IOException {
        this.arguments = arguments;
        this.directory = WorkDirectory.ofWorker().orElseThrow();
        this.handover = JsonHandover.in(directory);
        this.plan = handover.plan(CheckpointPlan.class);
        arguments.backend = Backend.named(plan.backend());
        arguments.restartsMax = 0;
        arguments.checkpointInterval = plan.interval();
        this.memory = arguments.memorySplit(command);
        Path journal = Files.createDirectories(directory.resolve("journal"));
        this.options =
                UpdateOptions.ofSize(
                        RUN, plan.stateBytes(), plan.valueBytes(), 0, journal.toString());
    }

    int run() throws IOException {
        Signals.handle(code -> Runtime.getRuntime().halt(code));
        WorkDirectory.dieWithParent(directory);
        try (EmbeddedEngine engine = new EmbeddedEngine(arguments, memory, directory, false);
                ResourceSampler sampler = new ResourceSampler(directory)) {
            engine.start();
            run(engine);
            handover.trial(trial(verified(), sampler.maxDiskMb(), null));
            return ExitCode.OK;
        } catch (Exception e) {
            if (arguments.verbose) {
                e.printStackTrace();
            }
            handover.trial(trial(null, null, Failures.explain(e, directory.toString())));
            return ExitCode.FAILURE;
        }
    }

    private void run(EmbeddedEngine engine) throws Exception {
        ended = engine.start(env -> Updates.build(env, options), false);
        await("build", () -> statistics.accepted() >= options.keys());
        warmUp(engine);
        closedLoop(engine);
        if (plan.intervalMs() > 0) {
            openLoop(engine);
        }
        statistics.stop();
        ended.get();
    }

    private void warmUp(EmbeddedEngine engine) throws Exception {
        awaitTime("warm-up", plan.warmUpMs());
        awaitCheckpoint(engine, "warm-up");
    }

    private void closedLoop(EmbeddedEngine engine) throws Exception {
        System.gc();
        long startMillis = System.currentTimeMillis();
        LoopMoment start = LoopMoment.now(statistics.accepted());
        awaitTime(Phase.CLOSED_LOOP, plan.closedMs());
        closed = start.until(LoopMoment.now(statistics.accepted()));
        closedCheckpoints = checkpoints(engine, startMillis, System.currentTimeMillis());
    }

    private void openLoop(EmbeddedEngine engine) throws Exception {
        statistics.pace(plan.ratePerS());
        awaitCheckpoint(engine, "settle");
        long startMillis = System.currentTimeMillis();
        awaitTime(Phase.OPEN_LOOP, plan.openMs());
        behindMs = statistics.behindMicros() / 1e3;
        openCheckpoints = checkpoints(engine, startMillis, System.currentTimeMillis());
    }

    /** Waits for one that begins after this. */
    private void awaitCheckpoint(EmbeddedEngine engine, String phase) throws Exception {
        long sinceMillis = System.currentTimeMillis();
        while (plan.intervalMs() > 0 && !completed(engine).anySince(sinceMillis)) {
            tick(phase);
        }
    }

    /** Waits for those that are on their way, so that long ones count too. */
    private List<Checkpoint> checkpoints(EmbeddedEngine engine, long fromMillis, long toMillis)
            throws Exception {
        while (!completed(engine).areDoneUntil(toMillis)) {
            tick("checkpoint");
        }
        return completed(engine).between(fromMillis, toMillis);
    }

    private static CompletedCheckpoints completed(EmbeddedEngine engine)
            throws InterruptedException {
        return new CompletedCheckpoints(engine.checkpoints());
    }

    private void awaitTime(String phase, long millis) throws Exception {
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        await(phase, () -> System.nanoTime() - endNanos >= 0);
    }

    private void await(String phase, BooleanSupplier condition) throws Exception {
        while (!condition.getAsBoolean()) {
            tick(phase);
        }
    }

    private void tick(String phase) throws Exception {
        ticks.await(ended, phase, statistics.accepted());
    }

    private boolean verified() throws IOException, CommandFailure {
        String problem =
                UpdateReference.problem(options, UpdateJournal.read(Path.of(options.journal())));
        if (problem != null) {
            throw new CommandFailure("wrong counts: " + problem);
        }
        return true;
    }

    private CheckpointTrial trial(
            @Nullable Boolean right, @Nullable Double diskMb, @Nullable String failure) {
        LoopFigures loop = closed;
        return new CheckpointTrial(
                arguments.backend.label(),
                plan.stateMib(),
                plan.intervalMs(),
                plan.pair(),
                failure,
                right,
                loop == null ? null : loop.eventsPerS(),
                loop == null ? null : loop.cpuUsPerEvent(),
                loop == null ? null : loop.writtenMb(),
                loop == null ? null : loop.gcMs(),
                closedCheckpoints,
                behindMs == null ? null : plan.ratePerS(),
                behindMs,
                openCheckpoints,
                peakRssMb(),
                diskMb);
    }

    private static @Nullable Double peakRssMb() {
        var peak = ProcessFigures.peakResidentBytes();
        return peak.isPresent() ? peak.getAsLong() / BYTES_PER_MB : null;
    }
}
