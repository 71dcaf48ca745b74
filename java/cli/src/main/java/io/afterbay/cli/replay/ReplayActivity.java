package io.afterbay.cli.replay;

import io.afterbay.cli.remote.ClusterException;
import io.afterbay.command.CommandFailure;
import java.util.Optional;

/** What a replay does now: by what is noted of it, and by what the cluster of its job says. */
final class ReplayActivity {
    private final ReplayDirectory directory;

    ReplayActivity(ReplayDirectory directory) {
        this.directory = directory;
    }

    ReplayState state() throws CommandFailure {
        if (directory.needsLiveBack()) {
            return directory.isHeld() ? ReplayState.RUNNING : ReplayState.INTERRUPTED;
        }
        ReplayDirectory.Ended ended = directory.ended().orElse(null);
        if (ended != null) {
            return ended.state() == ReplayState.FAILED && isAtWorkAllTheSame()
                    ? alive()
                    : ended.state();
        }
        if (directory.isHeld()) {
            return alive();
        }
        ReplayJob job = directory.job().orElse(null);
        try {
            if (job != null && !job.hasEnded(directory)) {
                return alive();
            }
        } catch (ClusterException e) {
            return ReplayState.UNKNOWN;
        }
        // Its job may have finished a moment ago, and the live job is not back.
        return directory.needsLiveBack()
                ? ReplayState.INTERRUPTED
                : directory
                        .ended()
                        .map(ReplayDirectory.Ended::state)
                        .orElse(ReplayState.INTERRUPTED);
    }

    /** A command may have failed that could not ask for its job any more, or not send it twice. */
    private boolean isAtWorkAllTheSame() throws CommandFailure {
        ReplayJob job = directory.job().orElse(null);
        try {
            return job != null && !directory.isHeld() && job.isAtWork(directory);
        } catch (ClusterException e) {
            return false; // as it is noted
        }
    }

    private ReplayState alive() throws CommandFailure {
        return directory.rate().paused() ? ReplayState.PAUSED : ReplayState.RUNNING;
    }

    /**
     * The job on a cluster that does the replay, though no process here waits for it.
     *
     * @throws CommandFailure if nobody knows
     */
    Optional<ReplayJob> jobAtWork() throws CommandFailure {
        ReplayJob job = directory.job().orElse(null);
        try {
            return job == null || job.hasEnded(directory) ? Optional.empty() : Optional.of(job);
        } catch (ClusterException e) {
            throw notKnown(e);
        }
    }

    /**
     * Ends a job of it, which may not be the one that is noted.
     *
     * @return false if it is still at work when the time is over
     * @throws CommandFailure if nobody knows
     */
    boolean end(ReplayJob job, Waiting waiting) throws CommandFailure, InterruptedException {
        try {
            return job.end(directory, waiting);
        } catch (ClusterException e) {
            throw notKnown(e);
        }
    }

    private CommandFailure notKnown(ClusterException e) throws CommandFailure {
        return new CommandFailure(
                "whether replay %s runs is not known: %s"
                        .formatted(directory.plan().id(), CommandFailure.reason(e)),
                e);
    }
}
