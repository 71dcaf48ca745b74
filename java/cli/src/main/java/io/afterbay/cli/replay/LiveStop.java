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
 * @param newJobId the one that it has when it is started again; null as long as nobody has tried
 */
record LiveStop(
        Phase phase,
        String trigger,
        @Nullable String savepoint,
        int parallelism,
        @Nullable Long checkpointIntervalMs,
        @Nullable String backend,
        @Nullable String newJobId) {
    /** Each is noted before what belongs to it is done. */
    enum Phase {
        STOPPING,
        STOPPED,
        BACK
    }

    LiveStop stopped(String at) {
        return new LiveStop(
                Phase.STOPPED, trigger, at, parallelism, checkpointIntervalMs, backend, newJobId);
    }

    LiveStop startingAs(String id) {
        return new LiveStop(
                phase, trigger, savepoint, parallelism, checkpointIntervalMs, backend, id);
    }

    LiveStop back() {
        return new LiveStop(
                Phase.BACK,
                trigger,
                savepoint,
                parallelism,
                checkpointIntervalMs,
                backend,
                newJobId);
    }
}
