package io.afterbay.cli.run;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.cli.engine.EmbeddedEngine;
import io.afterbay.cli.engine.EngineFigures;
import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.engine.Failures;
import io.afterbay.cli.engine.RestorePoint;
import io.afterbay.cli.job.Job;
import io.afterbay.cli.job.Outcome;
import io.afterbay.cli.job.RunFigures;
import io.afterbay.cli.job.SummaryJson;
import io.afterbay.cli.job.SummaryText;
import io.afterbay.cli.process.Signals;
import io.afterbay.cli.process.SystemExit;
import io.afterbay.cli.process.WorkDirectory;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.Terminal;
import io.afterbay.command.flink.FlinkFileSystems;
import io.afterbay.workloads.run.RunStatistics;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.configuration.CheckpointingOptions;

/** Runs the job on the embedded engine, shows progress and reports. */
public final class EmbeddedWorker {
    /** Sinks of others may commit by checkpoints only, also what comes last. */
    private static final Map<String, String> COMMITS_AT_END =
            Map.of(CheckpointingOptions.ENABLE_CHECKPOINTS_AFTER_TASKS_FINISH.key(), "true");

    private static final long TICK_MILLIS = 100;
    private static final long CANCEL_SECONDS_MAX = 20;
    private static final long IMPATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final Job job;
    private final RunPlan plan;
    private final RunCompanion companion;
    private final EngineSettings settings;
    private final Path directory;
    private final boolean rowsToStandardOutput;
    private final RunStatistics statistics;
    private final Progress progress;
    private final AtomicInteger signal = new AtomicInteger();
    private final AtomicLong signalNanos = new AtomicLong();
    private volatile RunFigures.Baseline baseline = RunFigures.Baseline.take();
    private EngineFigures figures = EngineFigures.NONE;

    public EmbeddedWorker(RunPlan plan, EngineSettings settings, RunCompanion companion) {
        Job job = plan.job().job();
        this.directory = WorkDirectory.ofWorker().orElseThrow();
        this.rowsToStandardOutput = RunPlan.STANDARD_OUTPUT.equals(job.output());
        boolean ownFile = rowsToStandardOutput || job.verifies() && job.output() == null;
        this.job = ownFile ? job.writingTo(rowsFile().toString()) : job;
        this.plan = plan;
        this.companion = companion;
        this.settings = job.isForeign() ? settings.withDefaults(COMMITS_AT_END) : settings;
        this.statistics = this.job.statistics();
        this.progress = new Progress(System.err, Terminal.isStandardError(), statistics);
    }

    private Path rowsFile() {
        return directory.resolve("rows.csv");
    }

    /**
     * @return the exit code
     * @throws CommandFailure if the run has failed
     */
    public int run() throws Exception {
        Signals.handle(this::signalled);
        WorkDirectory.dieWithParent(directory);
        if (job.isForeign()) {
            SystemExit.watch(job::exiting);
        }
        progress.say("memory " + settings.memory().describe());
        statistics.onFirstEvent(() -> baseline = RunFigures.Baseline.take());
        try (EmbeddedEngine engine = new EmbeddedEngine(settings, directory, job.isForeign())) {
            Outcome outcome = run(engine);
            companion.ended(outcome);
            return report(outcome);
        }
    }

    private void signalled(int exitCode) {
        if (signal.compareAndSet(0, exitCode)) {
            signalNanos.set(System.nanoTime());
        } else if (System.nanoTime() - signalNanos.get() > IMPATIENCE_NANOS) {
            Runtime.getRuntime().halt(exitCode);
        }
    }

    private Outcome run(EmbeddedEngine engine) throws InterruptedException {
        try {
            startFileSystems();
            if (plan.from() != null) {
                RestorePoint point = RestorePoint.find(plan.from());
                progress.say("starting from " + point.path());
                engine.from(point);
            }
            companion.starting(engine);
            engine.start();
            return watch(engine, job.start(engine));
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            return Outcome.failed(explain(e));
        }
    }

    /** Of whatever a job names, besides this machine's own: S3, for example. */
    private void startFileSystems() throws CommandFailure {
        Map<String, String> all = new HashMap<>(settings.properties());
        // Else S3A buffers in a directory that nobody removes.
        all.putIfAbsent("s3.buffer.dir", directory.resolve("s3").toString());
        FlinkFileSystems.initialize(all);
    }

    private String explain(Throwable failure) {
        if (settings.verbose()) {
            failure.printStackTrace();
        }
        return Failures.explain(failure, directory.toString());
    }

    private Outcome watch(EmbeddedEngine engine, CompletableFuture<Void> ended)
            throws InterruptedException {
        while (signal.get() == 0 && !isTimeUp() && !companion.wantsEnd()) {
            try {
                ended.get(TICK_MILLIS, TimeUnit.MILLISECONDS);
                figures = ask(engine);
                return Outcome.finished();
            } catch (TimeoutException e) {
                tick(engine);
            } catch (ExecutionException e) {
                figures = ask(engine);
                return Outcome.failed(explain(e));
            }
        }
        return stop(engine, ended);
    }

    private boolean isTimeUp() {
        long startNanos = statistics.firstEventNanos();
        return !job.duration().isZero()
                && startNanos != 0
                && System.nanoTime() - startNanos >= job.duration().toNanos();
    }

    private void tick(EmbeddedEngine engine) throws InterruptedException {
        job.news().forEach(progress::say);
        companion.news().forEach(progress::say);
        if (progress.isDue()) {
            int failuresBefore = figures.failures().size();
            figures = ask(engine);
            figures.failures().stream().skip(failuresBefore).forEach(this::sayFailure);
            companion
                    .progress(figures)
                    .ifPresentOrElse(progress::show, () -> progress.show(figures));
        }
    }

    private void sayFailure(String failure) {
        progress.say(
                "a task failed ("
                        + failure
                        + "); the job restarts from its last checkpoint, at most "
                        + settings.restartsMax()
                        + " times");
    }

    private EngineFigures ask(EmbeddedEngine engine) throws InterruptedException {
        return engine.figures().orElse(figures);
    }

    private Outcome stop(EmbeddedEngine engine, CompletableFuture<Void> ended)
            throws InterruptedException {
        figures = ask(engine);
        Outcome outcome;
        if (signal.get() != 0) {
            progress.say("interrupted; the report covers the run so far");
            outcome = Outcome.interrupted(signal.get());
        } else if (isTimeUp()) {
            progress.say("the --duration is over; the job is cancelled");
            outcome = Outcome.finished();
        } else {
            progress.say("ended from another terminal; the job is cancelled");
            outcome = Outcome.failed("ended from another terminal");
        }
        cancel(engine, ended);
        return outcome;
    }

    private void cancel(EmbeddedEngine engine, CompletableFuture<Void> ended)
            throws InterruptedException {
        job.stopCounting();
        engine.cancel();
        try {
            ended.get(CANCEL_SECONDS_MAX, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            // It was cancelled.
        } catch (TimeoutException e) {
            progress.say("the job did not stop within " + CANCEL_SECONDS_MAX + " s");
        }
    }

    private int report(Outcome end) throws CommandFailure {
        RunFigures run = RunFigures.take(statistics, baseline, figures, end.isFinished());
        job.news().forEach(progress::say);
        progress.clear();
        Outcome outcome = end.isFinished() ? verify(end) : end;
        PrintStream out = rowsToStandardOutput ? System.err : System.out;
        if (outcome.problem() == null) {
            new SummaryText(out).print(job, settings, run);
        }
        if (rowsToStandardOutput) {
            copyRows();
        }
        if (plan.json() != null) {
            ObjectNode root = SummaryJson.whole(job, settings, outcome, run);
            companion.report(root);
            SummaryJson.write(Path.of(plan.json()), root);
        }
        if (outcome.problem() != null) {
            throw new CommandFailure(outcome.problem());
        }
        return outcome.exitCode();
    }

    private Outcome verify(Outcome end) {
        try {
            job.verify();
            return end;
        } catch (CommandFailure e) {
            return Outcome.failed(CommandFailure.reason(e));
        }
    }

    private void copyRows() throws CommandFailure {
        try {
            if (Files.exists(rowsFile())) {
                Files.copy(rowsFile(), System.out);
            }
            System.out.flush();
        } catch (IOException e) {
            throw new CommandFailure("standard output: " + CommandFailure.reason(e), e);
        }
    }
}
