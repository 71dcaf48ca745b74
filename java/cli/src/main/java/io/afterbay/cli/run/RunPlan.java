package io.afterbay.cli.run;

import io.afterbay.cli.remote.ClusterAddress;
import org.jspecify.annotations.Nullable;

/**
 * All that a worker of {@code run} is to do.
 *
 * @param command whose name stands before what it says of a failure
 * @param json the file for the report, or null
 * @param from a checkpoint to start from, or where to look for the newest; null for none
 * @param on the cluster to run on; null for the embedded engine
 * @param chosenIntervalMs between checkpoints on a cluster; null for the cluster's own
 */
public record RunPlan(
        String command,
        JobPlan job,
        @Nullable String json,
        @Nullable String from,
        @Nullable ClusterAddress on,
        @Nullable Long chosenIntervalMs) {
    /**
     * As {@code --output}: rows to standard output at the end, everything else to standard error.
     */
    public static final String STANDARD_OUTPUT = "-";

    /** The same from another checkpoint, or from the beginning. */
    public RunPlan startingFrom(@Nullable String checkpoint) {
        return new RunPlan(command, job, json, checkpoint, on, chosenIntervalMs);
    }
}
