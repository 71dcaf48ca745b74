package io.afterbay.spark.workloads;

import io.afterbay.workloads.microbatch.MicroBatchReport;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/** Figures of the batches that count: those that began behind the warm-up. */
final class BatchFigures {
    /** Of a trigger, by the names of Spark's progress. */
    private static final List<String> PARTS =
            List.of("walCommit", "queryPlanning", "addBatch", "commitOffsets");

    /** Of a commit of the state, by the names of Spark's metrics. */
    private static final Map<String, String> STATE_PARTS =
            Map.of(
                    "stateCommit", Batch.COMMIT,
                    "flush", "rocksdbCommitFlushLatency",
                    "compact", "rocksdbCommitCompactLatency",
                    "checkpoint", "rocksdbCommitCheckpointLatency",
                    "upload", "rocksdbCommitFileSyncLatencyMs",
                    "changelog", "rocksdbChangeLogWriterCommitLatencyMs");

    private final List<Batch> batches;
    private final Pace pace;
    private final int tasksAtOnce;
    private final SnapshotCounts snapshots;

    /**
     * @param all of a run
     * @param partitions of the state
     */
    BatchFigures(List<Batch> all, Pace pace, int partitions, SnapshotCounts snapshots) {
        this.batches =
                all.stream()
                        .filter(batch -> batch.beginMicros() >= pace.countsFromMicros())
                        .toList();
        this.pace = pace;
        this.snapshots = snapshots;
        this.tasksAtOnce = Math.min(partitions, LocalSpark.processors());
    }

    boolean isEmpty() {
        return batches.isEmpty();
    }

    int size() {
        return batches.size();
    }

    long records() {
        return batches.stream().mapToLong(batch -> batch.end() - batch.first()).sum();
    }

    double percentile(double percent, ToDoubleFunction<Batch> of) {
        double[] sorted = batches.stream().mapToDouble(of).sorted().toArray();
        int rank = (int) Math.ceil(percent / 100 * sorted.length);
        return sorted[Math.max(0, rank - 1)];
    }

    MicroBatchReport.Times times() {
        ToDoubleFunction<Batch> delay = batch -> batch.delayMillis(pace);
        return new MicroBatchReport.Times(
                batches.size(),
                records(),
                percentile(50, Batch::millis),
                percentile(90, Batch::millis),
                percentile(99, Batch::millis),
                percentile(100, Batch::millis),
                percentile(50, delay),
                percentile(99, delay),
                percentile(100, delay));
    }

    /**
     * Means. What tasks say is the sum over them; on the way of the batch is as much as one of
     * those that run at once has to do.
     */
    Map<String, Double> partsMs() {
        Map<String, Double> means = new LinkedHashMap<>();
        means.put("batch", mean(Batch::millis));
        PARTS.forEach(
                part -> means.put(part, mean(batch -> batch.durations().getOrDefault(part, 0L))));
        STATE_PARTS.forEach(
                (part, metric) ->
                        means.put(
                                part,
                                mean(
                                        batch ->
                                                (double) batch.states().getOrDefault(metric, 0L)
                                                        / tasksAtOnce)));
        return means;
    }

    /** How many batches there are, by how many stores made a snapshot at their end. */
    Map<Integer, Integer> bySnapshots() {
        Map<Integer, Integer> result = new TreeMap<>();
        batches.forEach(batch -> result.merge(snapshots.of(batch.id()), 1, Integer::sum));
        return result;
    }

    private double mean(ToDoubleFunction<Batch> of) {
        return Arrays.stream(batches.stream().mapToDouble(of).toArray()).average().orElse(0);
    }
}
