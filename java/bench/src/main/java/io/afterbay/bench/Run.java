package io.afterbay.bench;

import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import org.jspecify.annotations.Nullable;

/**
 * One counted run of one backend, in a process of its own. What was not measured, or could not be,
 * is null; a run that failed says why and keeps the figures that it had.
 *
 * @param backend label of the backend
 * @param pair number of the round, from 1; the runs of one round are compared with each other
 * @param failure why the run failed, in one line, or null
 * @param eventsPerS events per second, as fast as possible (closed loop)
 * @param cpuUsPerEvent CPU time of the whole process per event, in the closed loop
 * @param taskCpuUsPerEvent the part of the threads of the job's tasks, with all that they do in the
 *     state themselves
 * @param backgroundCpuUsPerEvent the part of the state backend's own threads: flush, compaction,
 *     and the asynchronous part of checkpoints. The rest is the engine, the collector and the
 *     compiler
 * @param storeWriteCpuUsPerEvent of {@code taskCpuUsPerEvent}, what tasks do in the state backend
 *     to change state and timers, and to choose the key; (de)serialisation included
 * @param storeReadCpuUsPerEvent of {@code taskCpuUsPerEvent}, what tasks do there to look up and to
 *     iterate
 * @param p50Ms latency percentiles in the open loop, at {@link Comparison#ratePerS}; of Flink's
 *     latency markers in a foreign job
 * @param longestPauseMs longest time without an event entering the job, in the open loop
 * @param peakRssMb largest resident size of the process
 * @param diskMb largest size of local state and checkpoints together
 * @param writtenMb written to disks in the closed loop
 * @param gcMs time of garbage collections in the closed loop
 */
@JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
public record Run(
        String backend,
        int pair,
        @Nullable String failure,
        @Nullable Double eventsPerS,
        @Nullable Double cpuUsPerEvent,
        @Nullable Double taskCpuUsPerEvent,
        @Nullable Double backgroundCpuUsPerEvent,
        @Nullable Double storeWriteCpuUsPerEvent,
        @Nullable Double storeReadCpuUsPerEvent,
        @Nullable Double p50Ms,
        @Nullable Double p90Ms,
        @Nullable Double p95Ms,
        @Nullable Double p99Ms,
        @Nullable Double p999Ms,
        @Nullable Double maxMs,
        @Nullable Double longestPauseMs,
        @Nullable Double peakRssMb,
        @Nullable Double diskMb,
        @Nullable Double writtenMb,
        @Nullable Double gcMs) {

    /** Without any figure. */
    public static Run none(String backend, int pair) {
        return new Run(
                backend, pair, null, null, null, null, null, null, null, null, null, null, null,
                null, null, null, null, null, null, null);
    }

    /** Whether it did all its work. */
    public boolean finished() {
        return failure == null;
    }

    /** The same figures of a run that failed. */
    public Run failed(String reason) {
        return new Run(
                backend,
                pair,
                reason,
                eventsPerS,
                cpuUsPerEvent,
                taskCpuUsPerEvent,
                backgroundCpuUsPerEvent,
                storeWriteCpuUsPerEvent,
                storeReadCpuUsPerEvent,
                p50Ms,
                p90Ms,
                p95Ms,
                p99Ms,
                p999Ms,
                maxMs,
                longestPauseMs,
                peakRssMb,
                diskMb,
                writtenMb,
                gcMs);
    }
}
