package io.afterbay.cli.measure;

import io.afterbay.cli.engine.EmbeddedEngine;
import io.afterbay.cli.job.Job;
import io.afterbay.command.CommandFailure;
import io.afterbay.handover.WorkerStatus;
import io.afterbay.workloads.run.RunStatistics;
import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** One phase of a worker on its engine; says on standard output how far it is. */
public final class PhaseRun {
    private static final long TICK_MILLIS = 200;
    private static final long CANCEL_SECONDS_MAX = 60;

    private final EmbeddedEngine engine;
    private final Phase phase;
    private final Job job;
    private final RunStatistics statistics;
    private final RowMeter meter;
    private final PrintStream status;

    PhaseRun(
            EmbeddedEngine engine, Target target, Phase phase, RowMeter meter, PrintStream status) {
        this.engine = engine;
        this.phase = phase;
        this.job = target.job(phase);
        this.statistics = job.statistics();
        this.status = status;
        this.meter = meter;
        statistics.observe(meter);
    }

    /** What the phase before has left on the heap is not this one's to collect. */
    public static PhaseRun fresh(
            EmbeddedEngine engine, Target target, Phase phase, RowMeter meter) {
        System.gc();
        return new PhaseRun(engine, target, phase, meter, System.out);
    }

    /** Runs the job for so long, again and again if it ends before. */
    public static void warmUp(EmbeddedEngine engine, Target target, Duration time)
            throws Exception {
        long end = System.nanoTime() + time.toNanos();
        boolean ended = true;
        while (ended && System.nanoTime() < end) {
            Duration left = Duration.ofNanos(end - System.nanoTime());
            ended = fresh(engine, target, Phase.warmUp(), new RowMeter()).forAWhile(left);
        }
    }

    public RunStatistics statistics() {
        return statistics;
    }

    /** Returns when the job has done all its work. */
    public void toItsEnd() throws Exception {
        CompletableFuture<Void> ended = job.start(engine);
        while (!isOver(ended)) {
            say();
        }
    }

    /**
     * Stops the job when it has run for so long, counted from its first event.
     *
     * @return whether it has ended before by itself
     */
    public boolean forAWhile(Duration time) throws Exception {
        CompletableFuture<Void> ended = job.start(engine);
        while (!isTimeUp(time)) {
            if (isOver(ended)) {
                return true;
            }
            say();
        }
        job.stopCounting();
        engine.cancelRunning();
        awaitCancelled(ended);
        return false;
    }

    /** The same, to the end of the job if the limit is zero. */
    public boolean upTo(Duration limit) throws Exception {
        if (!limit.isZero()) {
            return forAWhile(limit);
        }
        toItsEnd();
        return true;
    }

    /** See {@link Job#rowSum}. */
    public @Nullable String rowSum() {
        return job.rowSum();
    }

    private boolean isTimeUp(Duration time) {
        long startNanos = statistics.firstEventNanos();
        return startNanos != 0 && System.nanoTime() - startNanos >= time.toNanos();
    }

    private static boolean isOver(CompletableFuture<Void> ended) throws Exception {
        try {
            ended.get(TICK_MILLIS, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        }
    }

    private void awaitCancelled(CompletableFuture<Void> ended) throws Exception {
        try {
            ended.get(CANCEL_SECONDS_MAX, TimeUnit.SECONDS);
        } catch (ExecutionException | CancellationException e) {
            // It was cancelled.
        } catch (TimeoutException e) {
            throw new CommandFailure(
                    "the %s did not stop within %d s".formatted(phase.name(), CANCEL_SECONDS_MAX));
        }
    }

    private void say() {
        WorkerStatus now =
                new WorkerStatus(
                        phase.name(), statistics.accepted(), phase.events(), meter.count());
        status.println(now.line());
        status.flush();
    }
}
