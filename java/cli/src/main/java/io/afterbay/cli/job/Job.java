package io.afterbay.cli.job;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.cli.engine.Engine;
import io.afterbay.command.CommandFailure;
import io.afterbay.workloads.run.RunStatistics;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A job as the worker sees it: how it starts, and what it adds to the report. */
public interface Job {
    String name();

    RunStatistics statistics();

    /** Whether events come by a schedule rather than as fast as possible. */
    boolean isOpenLoop();

    /** The file for the rows of the result, or null for nowhere. */
    @Nullable String output();

    /** The same job with another output. */
    Job writingTo(String file);

    /**
     * Starts on an engine that runs. The future completes when all of the job has ended, with the
     * cause if it failed.
     */
    CompletableFuture<Void> start(Engine engine) throws Exception;

    /** How long the job runs at most, counted from its first event; zero: until its end. */
    default Duration duration() {
        return Duration.ZERO;
    }

    /** What to tell the user that has happened since the call before. */
    default List<String> news() {
        return List.of();
    }

    /**
     * Whether somebody else's code makes the jobs: their figures come from Flink's metrics, and it
     * may end the JVM.
     */
    default boolean isForeign() {
        return false;
    }

    /** Called when the job is about to be cancelled: what follows is no longer its work. */
    default void stopCounting() {}

    /**
     * Identifies the rows that a job yielded that has ended by itself, whatever their order; null
     * if nobody knows them.
     */
    default @Nullable String rowSum() {
        return null;
    }

    /** Called when foreign code ends the JVM, which waits until the run has been reported. */
    default void exiting() {}

    /** Whether {@link #verify} has something to do; it reads the output. */
    default boolean verifies() {
        return false;
    }

    /** Compares the output of a finished run with the right answer; what is wrong is a failure. */
    default void verify() throws CommandFailure {}

    /** The result, above the figures of the run. */
    void printResult(SummaryText text);

    /** What the latencies count from, and what was rejected. */
    void printLatency(SummaryText text, RunFigures run);

    /** The job's options; the engine's are already there. */
    void options(ObjectNode node);

    /** Figures that only this job has. */
    void figures(ObjectNode root, RunFigures run);
}
