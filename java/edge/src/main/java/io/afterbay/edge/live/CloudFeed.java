package io.afterbay.edge.live;

import io.afterbay.command.CommandFailure;
import io.afterbay.edge.plan.PlanJson;
import java.io.IOException;
import java.nio.file.Path;

/** Brings what sites see, or have made of it, to Flink. For one thread. */
interface CloudFeed extends AutoCloseable {
    /** For the progress. */
    String name();

    /** Whether Flink begins to read when all of the sites has arrived; else it does before. */
    default boolean isReadAtEnd() {
        return false;
    }

    /**
     * What Flink runs.
     *
     * @param results a directory for its rows
     */
    PlanJson job(Path results);

    /**
     * Whether all of the sites has arrived.
     *
     * @param sinceStartMs how long the sites have been played
     * @throws CommandFailure if it never will
     */
    boolean look(long sinceStartMs) throws CommandFailure, IOException;

    /** Tells Flink that nothing more comes. */
    void finish() throws CommandFailure, IOException, InterruptedException;

    @Override
    void close() throws IOException;
}
