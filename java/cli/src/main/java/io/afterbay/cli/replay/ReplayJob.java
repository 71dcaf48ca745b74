package io.afterbay.cli.replay;

import io.afterbay.cli.remote.ClusterAddress;
import io.afterbay.cli.remote.ClusterException;
import io.afterbay.cli.remote.ClusterJob;
import io.afterbay.cli.remote.JobView;
import io.afterbay.command.CommandFailure;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.common.JobID;

/**
 * The job of a replay on a cluster, where it goes on when the processes of the replay have ended.
 *
 * @param id 32 hexadecimal digits
 */
record ReplayJob(ClusterAddress cluster, String id) {
    /** One of the same cluster that nobody knows yet. */
    ReplayJob successor() {
        return new ReplayJob(cluster, new JobID().toHexString());
    }

    private ClusterJob job(ReplayDirectory directory) {
        return new ClusterJob(directory.rest(cluster), id);
    }

    /**
     * Its identifier, if the cluster does not know it: what a command that was killed has sent may
     * come yet, and a cluster takes one job of an identifier. Empty if it has ended.
     *
     * @throws CommandFailure if it has come meanwhile
     */
    Optional<JobID> unseen(ReplayDirectory directory)
            throws CommandFailure, ClusterException, InterruptedException {
        String state = job(directory).state().orElse(null);
        if (state == null) {
            return Optional.of(JobID.fromHexString(id));
        }
        if (!ClusterJob.isEnded(state)) {
            throw new CommandFailure(
                    "the replay runs already, as job %s at %s: follow it by 'replay resume'"
                            .formatted(id, cluster));
        }
        return Optional.empty();
    }

    /**
     * Whether its cluster knows it, and it has not ended. Nothing is noted.
     *
     * @throws ClusterException if the cluster does not answer, so that nobody knows
     */
    boolean isAtWork(ReplayDirectory directory) throws CommandFailure, ClusterException {
        try {
            return job(directory).state().filter(state -> !ClusterJob.isEnded(state)).isPresent();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailure("interrupted", e);
        }
    }

    /**
     * Whether it does nothing any more. If it has finished or failed, that is noted.
     *
     * @throws ClusterException if the cluster does not answer, so that nobody knows
     */
    boolean hasEnded(ReplayDirectory directory) throws CommandFailure, ClusterException {
        try {
            String state = job(directory).state().orElse("unknown");
            switch (state) {
                case "FINISHED" -> directory.finished();
                case "FAILED" -> directory.failed(failure(directory));
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

    private String failure(ReplayDirectory directory)
            throws ClusterException, InterruptedException {
        List<String> failures = new JobView(directory.rest(cluster), id).failures();
        return failures.isEmpty()
                ? "its job has failed, see http://" + cluster
                : failures.get(failures.size() - 1);
    }

    /**
     * Cancels it, and waits until it does nothing any more.
     *
     * @return false if it still does when the time is over
     * @throws ClusterException if the cluster does not answer, so that nobody knows
     */
    boolean end(ReplayDirectory directory, Waiting waiting)
            throws CommandFailure, ClusterException, InterruptedException {
        long startNanos = System.nanoTime();
        boolean isTold = false;
        while (isAtWork(directory)) {
            if (waiting.isOver(startNanos)) {
                return false;
            }
            isTold = isTold || cancel(directory);
            Thread.sleep(waiting.tickMs());
        }
        return true;
    }

    /**
     * Asks the cluster to cancel it.
     *
     * @return whether the cluster was told
     */
    boolean cancel(ReplayDirectory directory) throws InterruptedException {
        return job(directory).cancel();
    }
}
