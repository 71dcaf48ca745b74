package io.afterbay.spark;

import java.util.Collections;
import java.util.Set;
import java.util.UUID;
import java.util.WeakHashMap;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.streaming.AvailableNowTrigger$;
import org.apache.spark.sql.execution.streaming.ContinuousTrigger;
import org.apache.spark.sql.execution.streaming.OneTimeTrigger$;
import org.apache.spark.sql.execution.streaming.RealTimeTrigger;
import org.apache.spark.sql.execution.streaming.runtime.AsyncProgressTrackingMicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;
import org.apache.spark.sql.execution.streaming.sinks.FileStreamSink;
import org.apache.spark.sql.streaming.Trigger;
import org.jspecify.annotations.Nullable;
import scala.Option;

/** The query that the calling thread runs, if it runs one. */
final class RunningQuery {
    private static final String ANOTHER_TRIGGER = "Set another trigger";

    /** Those whose end is awaited. A function of {@code foreachBatch} may read checkpoints, too. */
    private static final Set<StreamExecution> AWAITED =
            Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    private RunningQuery() {}

    /**
     * Does something when the query has ended that has its checkpoint there, and whose calling
     * thread begins to run it; once, however often it is called. Nothing if there is none.
     *
     * @return what the query is called, the first time; else null
     */
    static @Nullable String atEnd(Path root, QueryEnd.Action action) {
        if (query() instanceof MicroBatchExecution query
                && query.triggerExecutor() != null // sources are made first
                && new Path(query.resolvedCheckpointRoot()).equals(root)
                && AWAITED.add(query)) {
            QueryEnd.set(query, action);
            return query.name() == null ? "" + query.id() : query.name() + " (" + query.id() + ")";
        }
        return null;
    }

    /**
     * Micro-batches whose offsets are there before their rows are what the order here is of; and a
     * batch that runs again has to write its state again.
     *
     * @throws IllegalStateException if the query works in another way, with the line that mends it
     */
    static void refuseOtherOrders() {
        StreamExecution query = query();
        if (query == null) {
            return;
        }
        if (query.trigger() instanceof RealTimeTrigger) {
            throw refused(query, "real-time mode", "has Trigger.RealTime", ANOTHER_TRIGGER);
        }
        if (query.trigger() instanceof ContinuousTrigger) {
            throw refused(query, "continuous mode", "has Trigger.Continuous", ANOTHER_TRIGGER);
        }
        if (query instanceof AsyncProgressTrackingMicroBatchExecution) {
            throw refused(
                    query,
                    "asynchronous progress tracking",
                    "writes its log by itself, behind its batches, and leaves batches out",
                    "Remove the option asyncProgressTrackingEnabled from its writeStream");
        }
        if (query.sink() instanceof FileStreamSink
                && PipelinedQuery.hasState(query.analyzedPlan())) {
            throw refused(
                    query,
                    "state in front of Spark's file sink",
                    "writes to one, which does not run a batch that it has; in format 2 Spark does"
                            + " not go on then (CheckpointInfo length: 0)",
                    "Use foreachBatch, and run the rows of a batch each time that it comes");
        }
    }

    private static IllegalStateException refused(
            StreamExecution query, String what, String reason, String way) {
        return new IllegalStateException(
                "Afterbay does not support "
                        + what
                        + ": query "
                        + query.id()
                        + " "
                        + reason
                        + ". "
                        + way
                        + ", or remove "
                        + QuerySettings.FILE_MANAGER
                        + " from its session");
    }

    /**
     * @param alsoReplayable classes of sources, beside those known
     * @throws IllegalStateException if pipelined mode may lose rows of the query
     */
    static void refuseUnlessReplayable(Set<String> alsoReplayable) {
        StreamExecution query = query();
        if (query != null) {
            new PipelinedQuery(query.id(), query.analyzedPlan(), alsoReplayable).check();
        }
    }

    /** Whether it ends when its input is used up: nobody says which batch is the last. */
    static boolean endsByItself() {
        StreamExecution query = query();
        return query != null && endsByItself(query.trigger());
    }

    private static boolean endsByItself(Trigger trigger) {
        return trigger.equals(AvailableNowTrigger$.MODULE$)
                || trigger.equals(OneTimeTrigger$.MODULE$);
    }

    /**
     * The session is a clone that has no queries: those of all sessions are in the shared state.
     */
    private static @Nullable StreamExecution query() {
        Option<SparkSession> active = SparkSession.getActiveSession();
        if (active.isEmpty()) {
            return null;
        }
        SparkSession session = active.get();
        String id = session.sparkContext().getLocalProperty(StreamExecution.QUERY_ID_KEY());
        return id == null
                ? null
                : session.sharedState().activeStreamingQueries().get(UUID.fromString(id));
    }
}
