package io.afterbay.experiments.recovery;

import io.afterbay.cli.engine.Engine;
import io.afterbay.cli.engine.RemoteEngine;
import io.afterbay.cli.process.ProcessFigures;
import io.afterbay.cli.remote.ClusterException;
import io.afterbay.cli.remote.ClusterRest;
import io.afterbay.cli.remote.JobView;
import io.afterbay.command.CommandFailure;
import io.afterbay.experiments.TrialWorker;
import io.afterbay.experiments.WorkerTicks;
import io.afterbay.workloads.updates.UpdateJournal;
import io.afterbay.workloads.updates.UpdateJournal.Moment;
import io.afterbay.workloads.updates.UpdateJournal.Part;
import io.afterbay.workloads.updates.UpdateOptions;
import io.afterbay.workloads.updates.UpdateReference;
import io.afterbay.workloads.updates.Updates;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The process of the experiment about recovery, which is the JobManager too. The job builds its
 * state and goes on at a fixed rate; a TaskManager is killed when a checkpoint has all of the
 * state, another one is started, and what the restored tasks write into their journals is read.
 */
final class RecoveryWorker extends TrialWorker<RecoveryPlan, RecoveryTrial> {
    private static final long AFTER_MILLIS = 2_000;
    private static final long CANCEL_SECONDS_MAX = 60;
    private static final double BYTES_PER_MB = 1e6;

    /** Complete checkpoints before the kill that began when all of the state was there. */
    private static final int CHECKPOINTS = 2;

    private final RecoveryCluster cluster;
    private final UpdateOptions options;
    private final WorkerTicks ticks = new WorkerTicks();
    private CompletableFuture<Void> ended = new CompletableFuture<>();
    private long killMillis;
    private @Nullable Double readMb;

    private RecoveryWorker(Start<RecoveryPlan> start) throws IOException {
        super(start);
        this.cluster = new RecoveryCluster(engine, directory, plan);
        Path journal = Files.createDirectories(directory.resolve("journal"));
        this.options =
                UpdateOptions.ofSize(
                        "recovery",
                        plan.stateBytes(),
                        plan.valueBytes(),
                        plan.ratePerS(),
                        journal.toString());
    }

    public static void main(String[] args) throws Exception {
        main(RecoveryPlan.class, RecoveryWorker::new);
    }

    @Override
    protected RecoveryTrial trial() throws Exception {
        cluster.start();
        return measured();
    }

    @Override
    protected RecoveryTrial failed(String reason) throws IOException {
        if (engine.verbose()) {
            System.err.println(cluster.log());
        }
        return RecoveryTrial.failed(
                engine.backend().label(),
                plan.stateMib(),
                plan.killedPercent(),
                plan.local(),
                plan.pair(),
                reason);
    }

    @Override
    protected void end() throws IOException, InterruptedException {
        cluster.close();
        handover.cpuOfChildren(cluster.cpu());
    }

    private RecoveryTrial measured() throws Exception {
        Engine remote =
                new RemoteEngine(
                        cluster.address(),
                        engine,
                        Duration.ofMillis(plan.intervalMs()),
                        List.of(),
                        List.of());
        ended = remote.start(env -> Updates.build(env, options), false);
        JobView job =
                new JobView(
                        new ClusterRest(cluster.address()),
                        remote.submissions().jobs().get(0).id().toString());
        build(job);
        JobView.Checkpoint checkpoint = awaitCheckpoints(job);
        kill();
        List<Part> parts = awaitRecovery();
        long deployedMillis = job.deployedMillis(Updates.OPERATOR);
        int localInstances = RestoreLog.localInstances(cluster.log());
        awaitTime("after", AFTER_MILLIS);
        cancel(remote);
        verify();
        return trial(parts, deployedMillis, localInstances, checkpoint);
    }

    private void build(JobView job) throws Exception {
        while (job.sourceRecords() < options.keys()) {
            tick("build", job.sourceRecords());
        }
    }

    /** The last one before the kill, which comes half an interval after its end. */
    private JobView.Checkpoint awaitCheckpoints(JobView job) throws Exception {
        long sinceMillis = System.currentTimeMillis();
        for (int number = 1; number < CHECKPOINTS; number++) {
            sinceMillis = awaitCheckpoint(job, sinceMillis).triggerMillis() + 1;
        }
        JobView.Checkpoint last = awaitCheckpoint(job, sinceMillis);
        long killAt = last.endMillis() + plan.intervalMs() / 2;
        awaitTime("before the kill", killAt - System.currentTimeMillis());
        return newest(job, last);
    }

    private static JobView.Checkpoint newest(JobView job, JobView.Checkpoint known)
            throws ClusterException, InterruptedException {
        return job.lastCheckpoint().orElse(known);
    }

    private JobView.Checkpoint awaitCheckpoint(JobView job, long sinceMillis) throws Exception {
        for (; ; ) {
            var last = job.lastCheckpoint();
            if (last.isPresent() && last.get().triggerMillis() >= sinceMillis) {
                return last.get();
            }
            tick("checkpoint", job.sourceRecords());
        }
    }

    private void kill() throws IOException, InterruptedException, CommandFailure {
        killMillis = System.currentTimeMillis();
        cluster.victim().kill();
        cluster.victim().start();
    }

    /** What the instances say after the restart when all of them have caught up. */
    private List<Part> awaitRecovery() throws Exception {
        List<Part> parts = restarted();
        while (!haveAll(parts, Moment.CAUGHT_UP)) {
            if (readMb == null && haveAll(parts, Moment.FIRST_EVENT)) {
                readMb = readMb();
            }
            tick("recovery", parts.size());
            parts = restarted();
        }
        readMb = readMb == null ? readMb() : readMb;
        return parts;
    }

    private @Nullable Double readMb() {
        OptionalLong bytes = ProcessFigures.readBytes(cluster.victim().handle());
        return bytes.isPresent() ? bytes.getAsLong() / BYTES_PER_MB : null;
    }

    private boolean haveAll(List<Part> parts, Moment moment) {
        return parts.size() == plan.instances()
                && parts.stream().allMatch(part -> part.micros(moment) > 0);
    }

    /** The last attempt of each instance, without the first attempts. */
    private List<Part> restarted() throws IOException {
        Map<Integer, Part> last = new TreeMap<>();
        for (Part part : UpdateJournal.read(Path.of(options.journal()))) {
            if (part.attempt() > 0) {
                last.merge(part.subtask(), part, (a, b) -> a.attempt() > b.attempt() ? a : b);
            }
        }
        return new ArrayList<>(last.values());
    }

    /** Closes the journals. */
    private void cancel(Engine remote) throws Exception {
        remote.submissions().cancelRunning();
        try {
            ended.get(CANCEL_SECONDS_MAX, TimeUnit.SECONDS);
        } catch (ExecutionException | CancellationException e) {
            // It was cancelled.
        }
    }

    private void verify() throws IOException, CommandFailure {
        String problem = UpdateReference.problem(options, restarted());
        if (problem != null) {
            throw new CommandFailure("wrong counts: " + problem);
        }
    }

    private void awaitTime(String phase, long millis) throws Exception {
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (System.nanoTime() - endNanos < 0) {
            tick(phase, 0);
        }
    }

    private void tick(String phase, long events) throws Exception {
        if (!cluster.isAlive()) {
            throw new CommandFailure("a TaskManager ended by itself: " + lastWords());
        }
        ticks.await(ended, phase, events);
    }

    /** The last cause in its log, or the last line if there is none. */
    private String lastWords() throws IOException {
        List<String> lines = cluster.log().lines().filter(line -> !line.isBlank()).toList();
        return lines.stream()
                .filter(line -> line.startsWith("Caused by: "))
                .reduce((first, second) -> second)
                .orElseGet(() -> lines.isEmpty() ? "it said nothing" : lines.get(lines.size() - 1));
    }

    private RecoveryTrial trial(
            List<Part> parts,
            long deployedMillis,
            int localInstances,
            JobView.Checkpoint checkpoint) {
        return new RecoveryTrial(
                engine.backend().label(),
                plan.stateMib(),
                plan.killedPercent(),
                plan.local(),
                plan.pair(),
                null,
                true,
                plan.ratePerS(),
                lastMillis(parts, Moment.RESTORED) - deployedMillis,
                lastMillis(parts, Moment.FIRST_EVENT) - deployedMillis,
                lastMillis(parts, Moment.CAUGHT_UP) - deployedMillis,
                lastMillis(parts, Moment.FIRST_EVENT) - killMillis,
                parts.size(),
                localInstances,
                readMb,
                checkpoint.stateBytes() / BYTES_PER_MB,
                (double) (killMillis - checkpoint.triggerMillis()));
    }

    /** When the last of them was so far, in milliseconds since the epoch. */
    private static double lastMillis(List<Part> parts, Moment moment) {
        return parts.stream().mapToLong(part -> part.micros(moment)).max().orElseThrow() / 1e3;
    }
}
