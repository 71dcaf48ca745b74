package io.afterbay.experiments.checkpoints;

import io.afterbay.cli.engine.EmbeddedEngine;
import io.afterbay.cli.measure.LoopFigures;
import io.afterbay.cli.measure.LoopMoment;
import io.afterbay.cli.measure.Phase;
import io.afterbay.cli.measure.ResourceSampler;
import io.afterbay.cli.process.ProcessFigures;
import io.afterbay.command.CommandFailure;
import io.afterbay.experiments.TrialWorker;
import io.afterbay.experiments.WorkerTicks;
import io.afterbay.experiments.checkpoints.CheckpointTrial.Checkpoint;
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

/**
 * The process of the experiment about checkpoints. It runs one job through these phases, which are
 * all of the same job, as building the state takes longest:
 *
 * <pre>
 *   build      each key is written once
 *   warm-up    at full speed, until a checkpoint has been completed that has all of the state
 *   closed     at full speed, counted
 *   settle     at the fixed rate, until a checkpoint has been completed that began in it
 *   open       at the fixed rate, counted
 * </pre>
 */
final class CheckpointWorker extends TrialWorker<CheckpointPlan, CheckpointTrial> {
    private static final String RUN = "checkpoints";
    private static final double BYTES_PER_MB = 1e6;

    private final UpdateOptions options;
    private final WorkerTicks ticks = new WorkerTicks();
    private final UpdateStatistics statistics = UpdateStatistics.of(RUN);
    private CompletableFuture<Void> ended = new CompletableFuture<>();
    private @Nullable LoopFigures closed;
    private List<Checkpoint> closedCheckpoints = List.of();
    private List<Checkpoint> openCheckpoints = List.of();
    private @Nullable Double behindMs;

    private CheckpointWorker(Start<CheckpointPlan> start) throws IOException {
        super(start);
        Path journal = Files.createDirectories(directory.resolve("journal"));
        this.options =
                UpdateOptions.ofSize(
                        RUN, plan.stateBytes(), plan.valueBytes(), 0, journal.toString());
    }

    public static void main(String[] args) throws Exception {
        main(CheckpointPlan.class, CheckpointWorker::new);
    }

    @Override
    protected CheckpointTrial trial() throws Exception {
        try (EmbeddedEngine flink = new EmbeddedEngine(engine, directory, false);
                ResourceSampler sampler = new ResourceSampler(directory)) {
            flink.start();
            run(flink);
            return trial(verified(), sampler.maxDiskMb(), null);
        }
    }

    @Override
    protected CheckpointTrial failed(String reason) {
        return trial(null, null, reason);
    }

    private void run(EmbeddedEngine flink) throws Exception {
        ended = flink.start(env -> Updates.build(env, options), false);
        await("build", () -> statistics.accepted() >= options.keys());
        warmUp(flink);
        closedLoop(flink);
        if (plan.intervalMs() > 0) {
            openLoop(flink);
        }
        statistics.stop();
        ended.get();
    }

    private void warmUp(EmbeddedEngine flink) throws Exception {
        awaitTime("warm-up", plan.warmUpMs());
        awaitCheckpoint(flink, "warm-up");
    }

    private void closedLoop(EmbeddedEngine flink) throws Exception {
        System.gc();
        long startMillis = System.currentTimeMillis();
        LoopMoment start = LoopMoment.now(statistics.accepted());
        awaitTime(Phase.CLOSED_LOOP, plan.closedMs());
        closed = start.until(LoopMoment.now(statistics.accepted()));
        closedCheckpoints = checkpoints(flink, startMillis, System.currentTimeMillis());
    }

    private void openLoop(EmbeddedEngine flink) throws Exception {
        statistics.pace(plan.ratePerS());
        awaitCheckpoint(flink, "settle");
        long startMillis = System.currentTimeMillis();
        awaitTime(Phase.OPEN_LOOP, plan.openMs());
        behindMs = statistics.behindMicros() / 1e3;
        openCheckpoints = checkpoints(flink, startMillis, System.currentTimeMillis());
    }

    /** Waits for one that begins after this. */
    private void awaitCheckpoint(EmbeddedEngine flink, String phase) throws Exception {
        long sinceMillis = System.currentTimeMillis();
        while (plan.intervalMs() > 0 && !completed(flink).anySince(sinceMillis)) {
            tick(phase);
        }
    }

    /** Waits for those that are on their way, so that long ones count too. */
    private List<Checkpoint> checkpoints(EmbeddedEngine flink, long fromMillis, long toMillis)
            throws Exception {
        while (!completed(flink).areDoneUntil(toMillis)) {
            tick("checkpoint");
        }
        return completed(flink).between(fromMillis, toMillis);
    }

    private static CompletedCheckpoints completed(EmbeddedEngine flink)
            throws InterruptedException {
        return new CompletedCheckpoints(flink.checkpoints());
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
                engine.backend().label(),
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
