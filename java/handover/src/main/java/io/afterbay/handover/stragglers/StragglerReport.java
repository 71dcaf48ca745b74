package io.afterbay.handover.stragglers;

import io.afterbay.handover.ProcessReport;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link StragglerPlan} came to.
 *
 * @param problem why the run is no good, or null; then all of the rest but the last says nothing
 * @param engine its version
 * @param latency null if nothing was acked that counts
 * @param queueing null if the run cannot say it
 * @param cpuMs processor time of the process, from the start
 */
public record StragglerReport(
        @Nullable String problem,
        String engine,
        @Nullable Acks acks,
        @Nullable Latency latency,
        @Nullable Queueing queueing,
        @Nullable Tasks tasks,
        @Nullable Cost cost,
        @Nullable Repeats repeats,
        long cpuMs)
        implements ProcessReport {

    /**
     * What became of all tuples.
     *
     * @param tuples that were sent
     * @param acked different ones
     * @param ackedTwice acks of such as had been acked
     * @param failed that the engine gave up
     */
    public record Acks(long tuples, long acked, long ackedTwice, long failed) {}

    /**
     * Of the tuples that count, from when each was due to its ack, in milliseconds.
     *
     * @param perS tuples that count, in a second of the time from when the first of them was due to
     *     the ack of the last
     */
    public record Latency(
            double p50Ms,
            double p90Ms,
            double p95Ms,
            double p99Ms,
            double p999Ms,
            double maxMs,
            double perS) {}

    /**
     * Mean times of tuples that count.
     *
     * @param waits how often a task began one of them
     * @param heldMs from when a tuple was due until its source emitted it
     * @param waitMs from when its sender emitted it until a task of the next stage began it
     * @param serviceMs from then until that task was free again
     */
    public record Queueing(long waits, double heldMs, double waitMs, double serviceMs) {}

    /**
     * Who did what.
     *
     * @param executed what tuples that count were to do for tasks, by stage and task
     * @param moved the share of that, in all stages, that another task did than the one that a
     *     tuple was sent to; null where tuples may be sent twice
     * @param bySecond what the first stage did by the second in which tuples were due
     * @param ofFirstTaskBySecond of that, what its first task did
     */
    public record Tasks(
            List<List<Long>> executed,
            @Nullable Double moved,
            List<Long> bySecond,
            List<Long> ofFirstTaskBySecond) {}

    /**
     * Of the whole run.
     *
     * @param cpuUsPerTuple processor time of the process while tuples came
     */
    public record Cost(double cpuUsPerTuple) {}

    /**
     * What was sent twice, of all tuples.
     *
     * @param sent tuples that their source sent a second time
     * @param won of these, those whose second instance was done first
     * @param extraWork what tasks did more than if each tuple had been sent once, as a share of
     *     that
     * @param budgetClosed share of the time in which nothing was to be replayed, since queues or
     *     processors were too busy; null without replays, or if it was never known
     * @param queues utilisation of the busiest bolt, from 0 to 1: the mean while the budget was
     *     closed, or if it never was, of all the time; null as above
     * @param processors that of the machine's processors, as above
     */
    public record Repeats(
            long sent,
            long won,
            double extraWork,
            @Nullable Double budgetClosed,
            @Nullable Double queues,
            @Nullable Double processors) {}

    /** Of a run that came to nothing. */
    public static StragglerReport failed(String engine, String problem, long cpuMs) {
        return new StragglerReport(problem, engine, null, null, null, null, null, null, cpuMs);
    }
}
