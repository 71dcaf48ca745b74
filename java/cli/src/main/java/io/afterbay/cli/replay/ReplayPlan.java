package io.afterbay.cli.replay;

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
 * @param workingDirectory where it was started, which names of files refer to
 * @param temporaryFiles where the directories of its processes are made; null for the system's
 */
record ReplayPlan(
        String id,
        String title,
        RunPlan run,
        long fromMs,
        long toMs,
        String workingDirectory,
        @Nullable String temporaryFiles) {
    String range() {
        return Instant.ofEpochMilli(fromMs) + " to " + Instant.ofEpochMilli(toMs);
    }

    ReplayPlan startingFrom(@Nullable String checkpoint) {
        return new ReplayPlan(
                id,
                title,
                run.startingFrom(checkpoint),
                fromMs,
                toMs,
                workingDirectory,
                temporaryFiles);
    }
}
