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
 * @param cpuMs processor time of the process, from the start
 */
public record StragglerReport(
        @Nullable String problem,
        String engine,
        @Nullable Acks acks,
        @Nullable Latency latency,
        @Nullable Tasks tasks,
        @Nullable Cost cost,
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
     * Who did what.
     *
     * @param executed tuples that count, by stage and task
     * @param moved of them in all stages, those that another task did than the one that they were
     *     sent to
     * @param bySecond tuples of the first stage by the second in which they were due
     * @param ofFirstTaskBySecond of these, those that its first task did
     */
    public record Tasks(
            List<List<Long>> executed,
            long moved,
            List<Long> bySecond,
            List<Long> ofFirstTaskBySecond) {}

    /**
     * Of the whole run.
     *
     * @param cpuUsPerTuple processor time of the process while tuples came
     */
    public record Cost(double cpuUsPerTuple) {}

    /** Of a run that came to nothing. */
    public static StragglerReport failed(String engine, String problem, long cpuMs) {
        return new StragglerReport(problem, engine, null, null, null, null, cpuMs);
    }
}
