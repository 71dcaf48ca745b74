package io.afterbay.cli.replay;

import io.afterbay.cli.remote.ClusterAddress;
import io.afterbay.cli.replay.live.LiveAddress;
import io.afterbay.cli.run.RunPlan;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * All that a replay is, for whoever starts it or starts it again.
 *
 * @param title what the user typed, for messages
 * @param run the job, and what becomes of it
 * @param fromMs the first record time, milliseconds since 1970
 * @param toMs the one behind the last
 * @param merge of its rows with those of the live job; null if its output is its own
 * @param isBlocking whether the live job is stopped for it, and started again
 * @param fromSavepoint whose state it begins with; null to begin empty
 * @param live the job beside which it runs, with its cluster; null if nothing is asked of it
 * @param storage where its checkpoints are, and what it is told and tells, if that is not its
 *     directory; null if it is
 * @param nice of its process as it begins, as {@code nice -n}; null on a cluster, and if an earlier
 *     version has begun it
 * @param workingDirectory where it was started, which names of files refer to
 * @param temporaryFiles where the directories of its processes are made; null for the system's
 */
record ReplayPlan(
        String id,
        String title,
        RunPlan run,
        long fromMs,
        long toMs,
        @Nullable Merge merge,
        boolean isBlocking,
        @Nullable String fromSavepoint,
        @Nullable LiveAddress live,
        @Nullable String storage,
        @Nullable Integer nice,
        String workingDirectory,
        @Nullable String temporaryFiles) {
    /**
     * @param sinceMs from when on the live job's rows are right; null for the end of the range
     * @param resolver as for --resolver; null to look for one in the job's jar
     */
    record Merge(@Nullable Long sinceMs, @Nullable String resolver) {}

    String range() {
        return Instant.ofEpochMilli(fromMs) + " to " + Instant.ofEpochMilli(toMs);
    }

    /** The cluster that it runs on; null if it runs in a process of its own. */
    @Nullable ClusterAddress on() {
        return run.on();
    }

    ReplayPlan startingFrom(@Nullable String checkpoint) {
        return new ReplayPlan(
                id,
                title,
                run.startingFrom(checkpoint == null ? fromSavepoint : checkpoint),
                fromMs,
                toMs,
                merge,
                isBlocking,
                fromSavepoint,
                live,
                storage,
                nice,
                workingDirectory,
                temporaryFiles);
    }
}
