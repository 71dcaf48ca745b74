package io.afterbay.spark;

import java.util.Set;
import java.util.UUID;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.streaming.AvailableNowTrigger$;
import org.apache.spark.sql.execution.streaming.OneTimeTrigger$;
import org.apache.spark.sql.execution.streaming.RealTimeTrigger;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;
import org.apache.spark.sql.streaming.Trigger;
import org.jspecify.annotations.Nullable;
import scala.Option;

/** The query that the calling thread runs, if it runs one. */
final class RunningQuery {
    private RunningQuery() {}

    /**
     * Real-time mode adds offsets after the rows of a batch are out: the order here is not its.
     *
     * @throws IllegalStateException if the query is in real-time mode
     */
    static void refuseRealTimeMode() {
        StreamExecution query = query();
        if (query != null && query.trigger() instanceof RealTimeTrigger) {
            throw new IllegalStateException(
                    "Afterbay does not support real-time mode: query "
                            + query.id()
                            + " has Trigger.RealTime. Set another trigger, or remove "
                            + QuerySettings.FILE_MANAGER
                            + " from its session");
        }
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
