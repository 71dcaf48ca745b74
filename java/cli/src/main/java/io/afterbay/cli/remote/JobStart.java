package io.afterbay.cli.remote;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.command.CommandFailure;
import java.time.Duration;

/** The start of a job on a cluster, which takes as long as it has no slots. */
public final class JobStart {
    private JobStart() {}

    /** What is done between two looks at a job that does not run yet. */
    public interface Pause {
        /**
         * @param state of the job; empty if the cluster knows no such job, or does not answer
         * @return whether it need not be waited for any more
         */
        boolean isEnough(String state) throws CommandFailure, InterruptedException;
    }

    /**
     * Returns when it runs, and all of its tasks do. A cluster that does not answer may do so
     * later.
     *
     * @throws CommandFailure if it does not run after all that time
     */
    public static void await(ClusterJob job, Duration patience, Pause pause)
            throws CommandFailure, InterruptedException {
        long startNanos = System.nanoTime();
        String state;
        do {
            JsonNode details;
            String problem = "";
            try {
                details = job.details().orElse(null);
            } catch (ClusterException e) {
                details = null;
                problem = ": " + CommandFailure.reason(e);
            }
            if (details != null && ClusterJob.isAtWork(details)) {
                return;
            }
            state = details == null ? "" : details.path("state").asText();
            if (System.nanoTime() - startNanos > patience.toNanos()) {
                throw new CommandFailure(
                        "job %s is %s after %d s, and does not run; does the cluster have free slots?"
                                .formatted(
                                        job.id(),
                                        state.isEmpty() ? "unknown" + problem : state,
                                        patience.toSeconds()));
            }
        } while (!pause.isEnough(state));
    }
}
