package io.afterbay.cli.run;

import io.afterbay.cli.engine.Engine;
import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.engine.RemoteEngine;
import io.afterbay.cli.engine.RestorePoint;
import io.afterbay.cli.job.Job;
import io.afterbay.cli.job.Outcome;
import io.afterbay.cli.job.SummaryText;
import io.afterbay.cli.process.Interruption;
import io.afterbay.cli.process.SystemExit;
import io.afterbay.cli.process.Versions;
import io.afterbay.cli.process.WorkDirectory;
import io.afterbay.cli.remote.ClusterAddress;
import io.afterbay.cli.remote.ClusterException;
import io.afterbay.cli.remote.ClusterRest;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ProgressLine;
import io.afterbay.command.Terminal;
import io.afterbay.command.flink.FlinkFileSystems;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.util.TimeUtils;
import org.jspecify.annotations.Nullable;

/** Runs the job on a cluster: submits, follows, cancels and reports. */
public final class RemoteWorker {
    private static final long TICK_MILLIS = 200;
    private static final long CANCEL_SECONDS_MAX = 60;

    private final Job job;
    private final boolean rowsToStandardOutput;
    private final ClusterAddress address;
    private final RunPlan plan;
    private final EngineSettings engine;
    private final RunCompanion companion;
    private final ClusterRest rest;
    private final RemoteFigures figures;
    private final Path directory = WorkDirectory.ofWorker().orElseThrow();
    private final Interruption interruption = new Interruption();
    private final ProgressLine progress = new ProgressLine(System.err, Terminal.isStandardError());
    private long startNanos;

    public RemoteWorker(
            RunPlan plan, ClusterAddress address, EngineSettings engine, RunCompanion companion) {
        Job job = plan.job().job();
        this.rowsToStandardOutput = RunPlan.STANDARD_OUTPUT.equals(job.output());
        this.job = rowsToStandardOutput ? job.writingTo(rowsFile().toString()) : job;
        this.address = address;
        this.plan = plan;
        this.engine = engine;
        this.companion = companion;
        this.rest = new ClusterRest(address);
        this.figures = new RemoteFigures(rest);
    }

    /**
     * @return the exit code
     * @throws CommandFailure if the run has failed
     */
    public int run() throws CommandFailure, InterruptedException, IOException {
        interruption.listen();
        WorkDirectory.dieWithParent(directory);
        if (job.isForeign()) {
            SystemExit.watch(job::exiting);
        }
        Duration between = check();
        progress.say("Flink " + Versions.flink() + " at " + address);
        Outcome outcome =
                run(
                        new RemoteEngine(
                                address,
                                engine,
                                between,
                                JobLibraries.jars(directory),
                                JobLibraries.jars(companion.libraries(), directory)));
        companion.ended(outcome);
        job.news().forEach(progress::say);
        companion.news().forEach(progress::say);
        progress.clear();
        PrintStream out = rowsToStandardOutput ? System.err : System.out;
        int code =
                new RemoteReport(job, address, engine, json(), out, companion)
                        .write(outcome, figures);
        if (Files.exists(rowsFile())) {
            Files.copy(rowsFile(), System.out);
        }
        return code;
    }

    private @Nullable Path json() {
        return plan.json() == null ? null : Path.of(plan.json());
    }

    private Path rowsFile() {
        return directory.resolve("rows.csv");
    }

    /** Returns the interval between checkpoints, or null for none. */
    private @Nullable Duration check() throws CommandFailure, InterruptedException {
        try {
            rest.check(Versions.flink(), companion.needsFreeSlots() ? engine.parallelism() : 0);
            return plan.chosenIntervalMs() != null
                    ? Duration.ofMillis(plan.chosenIntervalMs())
                    : rest.option(CheckpointingOptions.CHECKPOINTING_INTERVAL.key())
                            .map(TimeUtils::parseDuration)
                            .orElse(null);
        } catch (ClusterException e) {
            throw new CommandFailure(CommandFailure.reason(e), e);
        }
    }

    private Outcome run(RemoteEngine cluster) throws InterruptedException {
        try {
            if (plan.from() != null) {
                FlinkFileSystems.initialize(engine.properties());
                RestorePoint point = RestorePoint.find(plan.from());
                progress.say("starting from " + point.path());
                cluster.from(point);
            }
            companion.starting(cluster);
            startNanos = System.nanoTime();
            return watch(cluster, job.start(cluster));
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            return failed(e);
        }
    }

    private Outcome watch(Engine cluster, CompletableFuture<Void> ended)
            throws InterruptedException {
        while (!interruption.isRaised() && !isTimeUp() && !companion.wantsEnd()) {
            try {
                ended.get(TICK_MILLIS, TimeUnit.MILLISECONDS);
                figures.update(cluster.submissions().jobs());
                return Outcome.finished();
            } catch (TimeoutException e) {
                tick(cluster);
            } catch (ExecutionException e) {
                figures.update(cluster.submissions().jobs());
                return failed(e);
            }
        }
        return stop(cluster, ended);
    }

    private boolean isTimeUp() {
        return !job.duration().isZero()
                && System.nanoTime() - startNanos >= job.duration().toNanos();
    }

    private void tick(Engine cluster) throws InterruptedException {
        job.news().forEach(progress::say);
        companion.news().forEach(progress::say);
        if (progress.isDue()) {
            figures.update(cluster.submissions().jobs());
            progress.show(companion.progress(figures.engine()).orElseGet(this::line));
        }
    }

    private String line() {
        return String.format(
                Locale.ROOT,
                "%s, %,d events, %,d checkpoints, state %s",
                figures.status(),
                figures.events(),
                figures.engine().completed(),
                SummaryText.size(figures.engine().stateBytes()));
    }

    private Outcome failed(Exception failure) {
        if (engine.verbose()) {
            failure.printStackTrace();
        }
        return Outcome.failed(RemoteFailures.explain(failure, address, engine.backend()));
    }

    private Outcome stop(Engine cluster, CompletableFuture<Void> ended)
            throws InterruptedException {
        boolean interrupted = interruption.isRaised();
        boolean isTimeUp = !interrupted && isTimeUp();
        progress.say(
                interrupted
                        ? "interrupted; the job is cancelled on the cluster"
                        : isTimeUp
                                ? "the --duration is over; the job is cancelled"
                                : "ended from another terminal; the job is cancelled on the cluster");
        figures.update(cluster.submissions().jobs());
        job.stopCounting();
        cluster.submissions().cancel();
        try {
            cluster.submissions().ended().get(CANCEL_SECONDS_MAX, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            // It was cancelled.
        } catch (TimeoutException e) {
            return Outcome.failed(
                    "the job did not stop within %d s; look at http://%s"
                            .formatted(CANCEL_SECONDS_MAX, address));
        }
        if (interrupted) {
            return Outcome.interrupted(interruption.exitCode());
        }
        return isTimeUp ? Outcome.finished() : Outcome.failed("ended from another terminal");
    }
}
