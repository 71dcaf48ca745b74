package io.afterbay.spark;

import java.util.UUID;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.streaming.RealTimeTrigger;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;
import org.jspecify.annotations.Nullable;
import scala.Option;

/** Real-time mode adds offsets after the rows of a batch are out: the order here is not its. */
final class RealTimeMode {
    private RealTimeMode() {}

    /**
     * Looks at the query that the calling thread runs, if it runs one.
     *
     * @throws IllegalStateException if it is in real-time mode
     */
    static void refuse() {
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
