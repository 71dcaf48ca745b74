package io.afterbay.cli.replay;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.afterbay.cli.remote.ClusterAddress;
import io.afterbay.cli.remote.ClusterException;
import io.afterbay.cli.remote.ClusterJob;
import io.afterbay.cli.remote.ClusterRest;
import io.afterbay.cli.remote.JobView;
import io.afterbay.command.CommandFailure;
import java.util.List;

/**
 * The job of a replay on a cluster, where it goes on when the processes of the replay have ended.
 *
 * @param id 32 hexadecimal digits
 */
record ReplayJob(ClusterAddress cluster, String id) {
    @JsonIgnore
    ClusterJob job() {
        return new ClusterJob(new ClusterRest(cluster), id);
    }

    /**
     * Whether it does nothing any more. If it has finished or failed, that is noted.
     *
     * @throws ClusterException if the cluster does not answer, so that nobody knows
     */
    boolean hasEnded(ReplayDirectory directory) throws CommandFailure, ClusterException {
        try {
            String state = job().state().orElse("unknown");
            switch (state) {
                case "FINISHED" -> directory.finished();
                case "FAILED" -> directory.failed(failure());
                default -> {
                    // It runs, or somebody has cancelled it, or its cluster has forgotten it.
                }
            }
            return state.equals("unknown") || ClusterJob.isEnded(state);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailure("interrupted", e);
        }
    }

    private String failure() throws ClusterException, InterruptedException {
        List<String> failures = new JobView(new ClusterRest(cluster), id).failures();
        return failures.isEmpty()
                ? "its job has failed, see http://" + cluster
                : failures.get(failures.size() - 1);
    }

    /** Returns when the cluster was told. */
    void cancel() throws CommandFailure, InterruptedException {
        try {
            job().cancel();
        } catch (ClusterException e) {
            throw new CommandFailure(CommandFailure.reason(e), e);
        }
    }
}
