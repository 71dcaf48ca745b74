package io.afterbay.workloads.microbatch;

import java.util.Map;

/**
 * A query at a rate for a while, or the search for the rate that it sustains, as one process tells
 * it another.
 *
 * @param checkpoint directory for checkpoints
 * @param recordsPerS 0 if the rate is sought
 * @param partitions of the state
 * @param triggerMs time between the beginnings of two batches; 0 for one after the other
 * @param slow whether the checkpoint is on a slow distributed file system
 * @param deadlineMs bound of the age of results that batches are cut for; 0 for batches of all that
 *     is there
 * @param losesRecord whether one record does not come: the control of the check of the rows
 * @param settings of the engine
 * @param limitMs what batches may take at a rate that is sustained
 * @param warmUpMs how long records come before anything counts
 * @param countedMs length of what counts, at least; of each attempt, if the rate is sought
 * @param batchesMin that count: as long as there are fewer, more records come, as on a slow machine
 */
public record MicroBatchPlan(
        StreamQuery query,
        String checkpoint,
        long seed,
        int recordsPerS,
        int partitions,
        long triggerMs,
        boolean slow,
        long deadlineMs,
        boolean losesRecord,
        Map<String, String> settings,
        long limitMs,
        long warmUpMs,
        long countedMs,
        int batchesMin) {

    /** Whether the rate is not known yet. */
    public boolean seeksRate() {
        return recordsPerS == 0;
    }

    /** The same at a rate, with another checkpoint. */
    public MicroBatchPlan at(int rate, String otherCheckpoint) {
        return with(rate, otherCheckpoint, settings);
    }

    /** The same with another checkpoint and other settings of the engine. */
    public MicroBatchPlan on(String otherCheckpoint, Map<String, String> otherSettings) {
        return with(recordsPerS, otherCheckpoint, otherSettings);
    }

    private MicroBatchPlan with(
            int rate, String otherCheckpoint, Map<String, String> otherSettings) {
        return new MicroBatchPlan(
                query,
                otherCheckpoint,
                seed,
                rate,
                partitions,
                triggerMs,
                slow,
                deadlineMs,
                losesRecord,
                otherSettings,
                limitMs,
                warmUpMs,
                countedMs,
                batchesMin);
    }

    /** Records that are there at the beginning, so that windows and state are full. */
    public long preload() {
        return (long) recordsPerS * query.rangeSeconds();
    }

    /** All records, if there are batches enough by then. */
    public long records() {
        return preload() + recordsPerS * (warmUpMs + countedMs) / 1000;
    }
}
