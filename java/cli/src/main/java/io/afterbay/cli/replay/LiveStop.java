package io.afterbay.cli.replay;

import org.jspecify.annotations.Nullable;

/**
 * How far a live job is that is stopped for its replay, and what is needed to start it again.
 *
 * @param trigger names its savepoint at its cluster
 * @param savepoint where it was when it was stopped; null as long as it is not complete
 * @param parallelism that it had
 * @param checkpointIntervalMs that it had; null if it made no checkpoints
 * @param backend that it had; null if it is one that has no name here
 * @param checkpoints where those of its jobs are, each job's in a directory of its identifier; null
 *     if nothing says it
 * @param newJobId the one that it has when it is started again; null as long as nobody has tried
 */
record LiveStop(
        Phase phase,
        String trigger,
        @Nullable String savepoint,
        int parallelism,
        @Nullable Long checkpointIntervalMs,
        @Nullable String backend,
        @Nullable String checkpoints,
        @Nullable String newJobId) {
    /** Each is noted before what belongs to it is done. */
    enum Phase {
        STOPPING,
        STOPPED,
        BACK
    }

    LiveStop stopped(String at) {
        return with(Phase.STOPPED, at, newJobId);
    }

    LiveStop startingAs(String id) {
        return with(phase, savepoint, id);
    }

    LiveStop back() {
        return with(Phase.BACK, savepoint, newJobId);
    }

    private LiveStop with(Phase next, @Nullable String at, @Nullable String id) {
        return new LiveStop(
                next, trigger, at, parallelism, checkpointIntervalMs, backend, checkpoints, id);
    }
}
