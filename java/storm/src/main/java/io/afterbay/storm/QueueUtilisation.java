package io.afterbay.storm;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * ρ of the queues behind a spout, arrivals times service time: that of a bolt is the share of the
 * time that its tasks in this worker were at work, and the busiest bolt counts.
 *
 * <p>It is the mean of a bolt's tasks, since a replay goes to another one. A task that stands still
 * is at work all the time: if the busiest task counted, the stall that a replay is for would forbid
 * it.
 *
 * <p>For one thread.
 */
final class QueueUtilisation {
    private final BusyTimes times;
    private final List<String> bolts;
    private Map<BusyTimes.Task, Long> before = new HashMap<>();
    private long since;

    /**
     * @param bolts on the way of the spout's tuples
     * @param now nanoseconds since any moment
     */
    QueueUtilisation(BusyTimes times, List<String> bolts, long now) {
        this.times = times;
        this.bolts = bolts;
        this.since = now;
    }

    /**
     * Since the last time, from 0 to 1; NaN if one of the bolts has no task in this worker, of
     * whose queue nothing is known then.
     */
    double sinceLast(long now) {
        Map<BusyTimes.Task, Long> nanos = new HashMap<>();
        double busiest = 0;
        for (String bolt : bolts) {
            busiest = Math.max(busiest, mean(times.of(bolt), now, nanos));
        }
        before = nanos;
        since = now;
        return Math.min(1, busiest);
    }

    private double mean(
            Collection<BusyTimes.Task> tasks, long now, Map<BusyTimes.Task, Long> nanos) {
        long sum = 0;
        for (BusyTimes.Task task : tasks) {
            long total = task.nanos(now);
            sum += total - before.getOrDefault(task, 0L);
            nanos.put(task, total);
        }
        return tasks.isEmpty()
                ? Double.NaN
                : (double) sum / tasks.size() / Math.max(1, now - since);
    }
}
