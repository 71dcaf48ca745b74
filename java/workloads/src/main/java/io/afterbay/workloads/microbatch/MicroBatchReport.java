package io.afterbay.workloads.microbatch;

import io.afterbay.handover.ProcessReport;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link MicroBatchPlan} came to.
 *
 * @param problem why the run is no good, or null
 * @param engine its version
 * @param rows identifies the rows of all batches; null if the rate was sought
 * @param expectedRows the same of {@link Answers}
 * @param times null if the rate was sought
 * @param partsMs means of what a batch consists of, by name, in ms
 * @param bySnapshots how many batches there are, by how many state stores made a snapshot at their
 *     end, within the tasks; empty if the rate was sought
 * @param cost null if the rate was sought
 * @param sustainedPerS records per second that were found; null if they were not sought
 * @param cpuMs processor time of the process, from the start
 */
public record MicroBatchReport(
        @Nullable String problem,
        String engine,
        @Nullable String rows,
        @Nullable String expectedRows,
        @Nullable Times times,
        Map<String, Double> partsMs,
        Map<Integer, Integer> bySnapshots,
        @Nullable Cost cost,
        @Nullable Double sustainedPerS,
        long cpuMs)
        implements ProcessReport {

    /**
     * Of the counted batches, in milliseconds.
     *
     * @param batches how many there are
     * @param records of all of them
     * @param delayP50Ms from when the oldest record of a batch was due until the batch had ended
     */
    public record Times(
            int batches,
            long records,
            double p50Ms,
            double p90Ms,
            double p99Ms,
            double maxMs,
            double delayP50Ms,
            double delayP99Ms,
            double delayMaxMs) {}

    /**
     * While batches were counted.
     *
     * @param cpuUsPerRecord processor time of the process
     * @param busy the same as a share of the processors
     * @param rssMib the largest resident set of the process, from its start
     * @param gcMs pauses of the collector
     */
    public record Cost(double cpuUsPerRecord, double busy, double rssMib, double gcMs) {}

    /** Of a run that came to nothing. */
    public static MicroBatchReport failed(String engine, String problem, long cpuMs) {
        return new MicroBatchReport(
                problem, engine, null, null, null, Map.of(), Map.of(), null, null, cpuMs);
    }

    /** Of a search. */
    public static MicroBatchReport found(String engine, double sustainedPerS, long cpuMs) {
        return new MicroBatchReport(
                null, engine, null, null, null, Map.of(), Map.of(), null, sustainedPerS, cpuMs);
    }
}
