package io.afterbay.cli.job;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.cli.engine.Engine;
import io.afterbay.cli.engine.Submissions;
import io.afterbay.cli.engine.Submissions.Submitted;
import io.afterbay.cli.metrics.EngineMetrics;
import io.afterbay.command.CommandFailure;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.jspecify.annotations.Nullable;

/**
 * Somebody else's jobs in a worker. A thread of its own runs the code that submits them, which may
 * start any number of jobs, block, throw or end the JVM; the run is over when that code and all
 * jobs are.
 */
public abstract class Program implements Job {
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final Path file;
    private final ProgramRules rules;
    private final ProgramStatistics statistics = new ProgramStatistics();
    private final List<String> warnings = new CopyOnWriteArrayList<>();
    private final LinkedBlockingQueue<String> news = new LinkedBlockingQueue<>();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private volatile @Nullable Submissions<?> submissions;
    private volatile int jobsBefore;
    private volatile boolean codeEnded;
    private volatile boolean stopped;
    private long quietSinceNanos = System.nanoTime();
    private boolean saidThatCodeIsLeft;

    Program(Path file, ProgramRules rules) {
        this.file = file;
        this.rules = rules;
    }

    /** Runs the code that submits jobs. */
    abstract void submitJobs(Engine engine) throws Exception;

    /** What ends without a job, for messages. */
    abstract String code();

    /** Whether it is a failure if the code ends without a job. */
    boolean needsJob() {
        return true;
    }

    /** The class loader that knows the exceptions of the jobs. */
    abstract ClassLoader classLoader();

    @Override
    public CompletableFuture<Void> start(Engine engine) {
        Submissions<?> submissions = engine.submissions();
        this.submissions = submissions;
        this.jobsBefore = submissions.jobs().size();
        ProgramGate gate = new ProgramGate(engine, rules);
        submissions.observe(
                job -> {
                    if (stopped) {
                        throw new CommandFailure(
                                "job '%s' was not started: the run has been ended"
                                        .formatted(job.getName()));
                    }
                    String warning = gate.check(job);
                    if (warning != null) {
                        warn(warning);
                    }
                    watchLastOperators(job);
                },
                statistics::jobEnded);
        statistics.start();
        Thread thread = new Thread(() -> run(engine), code());
        thread.setDaemon(true);
        thread.start();
        return ended;
    }

    private void warn(String warning) {
        warnings.add(warning);
        news.add("warning: " + warning);
    }

    /** Those of this program, in the order of their start. */
    private List<Submitted> jobs() {
        Submissions<?> known = submissions;
        if (known == null) {
            return List.of();
        }
        List<Submitted> all = known.jobs();
        return all.subList(jobsBefore, all.size());
    }

    private static void watchLastOperators(StreamGraph job) {
        for (StreamNode node : job.getStreamNodes()) {
            if (node.getOutEdges().isEmpty()) {
                EngineMetrics.ofThisProcess().addLastOperator(node.getOperatorName());
            }
        }
    }

    private void run(Engine engine) {
        Submissions<?> submissions = engine.submissions();
        try {
            submitJobs(engine);
            codeEnded = true;
            submissions.ended().join();
            requireSuccess(jobs());
            statistics.stop(false);
            ended.complete(null);
        } catch (Throwable e) {
            // Errors, too: a class that the jar lacks is one.
            try {
                submissions.awaitFailures();
                submissions.cancelRunning();
            } finally {
                ended.completeExceptionally(failure(e));
            }
        }
    }

    private void requireSuccess(List<Submitted> jobs) throws CommandFailure {
        if (jobs.isEmpty() && needsJob()) {
            throw new CommandFailure(
                    code() + " ended without a job: it must call execute() or executeAsync()");
        }
        CommandFailure failed = failedJob(jobs);
        if (failed != null) {
            throw failed;
        }
    }

    private @Nullable CommandFailure failedJob(List<Submitted> jobs) {
        for (Submitted job : jobs) {
            if (job.hasEnded() && job.result().join().getSerializedThrowable().isPresent()) {
                return ProgramFailure.of(
                        job, job.result().join().getSerializedThrowable().get(), classLoader());
            }
        }
        return null;
    }

    /** Code that waits for a job throws when the job fails; the job's own failure says more. */
    private CommandFailure failure(Throwable thrown) {
        if (thrown instanceof CommandFailure known) {
            return known;
        }
        CommandFailure failed = failedJob(jobs());
        return failed != null ? failed : ProgramFailure.of(thrown, code());
    }

    @Override
    public void stopCounting() {
        stopped = true;
        statistics.stop(true);
    }

    @Override
    public void exiting() {
        try {
            requireEnd(jobs());
            requireSuccess(jobs());
            ended.complete(null);
        } catch (CommandFailure e) {
            ended.completeExceptionally(e);
        }
        Submissions<?> known = submissions;
        if (known != null) {
            known.cancelRunning();
        }
    }

    private void requireEnd(List<Submitted> jobs) throws CommandFailure {
        for (Submitted job : jobs) {
            if (!job.hasEnded()) {
                throw new CommandFailure(
                        "%s called System.exit while job '%s' was running, which ends it; return from main instead"
                                .formatted(code(), job.name()));
            }
        }
    }

    @Override
    public List<String> news() {
        if (isCodeLeft() && !saidThatCodeIsLeft) {
            saidThatCodeIsLeft = true;
            news.add(code() + " is running, but no job is; Ctrl-C ends the run");
        }
        List<String> newest = new ArrayList<>();
        news.drainTo(newest);
        return newest;
    }

    /** Whether nothing but the user's code has run for some seconds. */
    private boolean isCodeLeft() {
        boolean quiet = !codeEnded && jobs().stream().allMatch(Submitted::hasEnded);
        if (!quiet) {
            quietSinceNanos = System.nanoTime();
        }
        return System.nanoTime() - quietSinceNanos > QUIET_NANOS;
    }

    @Override
    public String name() {
        return file.getFileName().toString();
    }

    @Override
    public final ProgramStatistics statistics() {
        return statistics;
    }

    @Override
    public final Duration duration() {
        return rules.duration();
    }

    @Override
    public boolean isForeign() {
        return true;
    }

    @Override
    public boolean isOpenLoop() {
        return false;
    }

    @Override
    public void printLatency(SummaryText text, RunFigures run) {
        text.line(
                "             of Flink's latency markers, which overtake no record but wait in no window");
    }

    @Override
    public void options(ObjectNode node) {
        node.put("file", file.toString());
        node.put("duration_ms", rules.duration().toMillis());
    }

    @Override
    public void figures(ObjectNode root, RunFigures run) {
        root.put("latency_source", "markers");
        ArrayNode names = root.putArray("jobs");
        jobs().forEach(job -> names.add(job.name()));
        warnings.forEach(root.putArray("warnings")::add);
    }
}
