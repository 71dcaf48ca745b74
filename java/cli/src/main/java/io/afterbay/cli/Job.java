package io.afterbay.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.workloads.run.RunStatistics;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;

/** A job as the worker sees it: how it is built, and what it adds to the report. */
interface Job {
    String name();

    RunStatistics statistics();

    /** Whether events come by a schedule rather than as fast as possible. */
    boolean isOpenLoop();

    /** The file for the rows of the result, or null for nowhere. */
    @Nullable String output();

    /** The same job with another output. */
    Job writingTo(String file);

    void build(StreamExecutionEnvironment environment);

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
