package io.afterbay.maintenance;

import java.util.Map;

/**
 * What a {@link MaintenanceScheduler} did and does; counts since it was created.
 *
 * @param queued tasks that have not begun, by kind
 * @param running tasks at work, by kind
 * @param delayed those of {@code queued} that wait for their phase or for the end of a pause, and
 *     not for a thread
 * @param executed tasks that ended
 * @param failed those of {@code executed} that threw
 * @param stalls deferrable tasks that began at their deadline or later: too much to do, too low a
 *     limit, or bursts without end
 * @param longestWaitNanos from submission to beginning, of all tasks so far, with those that still
 *     wait
 */
public record MaintenanceMetrics(
        Map<Kind, Integer> queued,
        Map<Kind, Integer> running,
        int delayed,
        long executed,
        long failed,
        long stalls,
        long longestWaitNanos) {

    public MaintenanceMetrics {
        queued = Map.copyOf(queued);
        running = Map.copyOf(running);
    }
}
