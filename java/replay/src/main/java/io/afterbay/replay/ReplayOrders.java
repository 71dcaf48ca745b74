package io.afterbay.replay;

import org.jspecify.annotations.Nullable;

/**
 * What the job of a replay is told.
 *
 * @param recordsPerSecond of all subtasks of all sources together; 0 pauses, infinity is as fast as
 *     possible
 * @param jobId the one job that does the replay, 32 hexadecimal digits; null if any may do it
 * @param isCancelled whether none is to begin it any more; one that is at work stands still until
 *     it is cancelled
 */
public record ReplayOrders(double recordsPerSecond, @Nullable String jobId, boolean isCancelled) {
    /**
     * @throws IllegalArgumentException if the rate is negative or no number
     */
    public ReplayOrders {
        if (!(recordsPerSecond >= 0)) {
            throw new IllegalArgumentException(
                    "a rate of %s records per second: it must be 0 or more"
                            .formatted(recordsPerSecond));
        }
    }

    /** Whichever job comes, and whichever is there. */
    public static ReplayOrders cancelled() {
        return new ReplayOrders(0, null, true);
    }

    /** Whether that job is the one that does the replay, as long as it is not cancelled. */
    public boolean areFor(String job) {
        return jobId == null || jobId.equals(job);
    }
}
