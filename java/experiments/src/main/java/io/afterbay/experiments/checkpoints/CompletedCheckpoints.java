package io.afterbay.experiments.checkpoints;

import io.afterbay.experiments.checkpoints.CheckpointTrial.Checkpoint;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToLongFunction;
import org.apache.flink.runtime.checkpoint.AbstractCheckpointStats;
import org.apache.flink.runtime.checkpoint.CheckpointStatsStatus;
import org.apache.flink.runtime.checkpoint.SubtaskStateStats;
import org.apache.flink.runtime.checkpoint.TaskStateStats;

/** The checkpoints of a job as Flink keeps them. Times are in milliseconds since the epoch. */
record CompletedCheckpoints(List<AbstractCheckpointStats> all) {
    private static final double BYTES_PER_MB = 1e6;

    /** Whether one that began since then is complete. */
    boolean anySince(long fromMillis) {
        return all.stream().anyMatch(one -> isCompleted(one) && begins(one) >= fromMillis);
    }

    /** Whether none that began before is on its way. */
    boolean areDoneUntil(long toMillis) {
        return all.stream()
                .noneMatch(
                        one ->
                                one.getStatus() == CheckpointStatsStatus.IN_PROGRESS
                                        && begins(one) < toMillis);
    }

    /** Those that began in between and were completed, in the order in which they began. */
    List<Checkpoint> between(long fromMillis, long toMillis) {
        return all.stream()
                .filter(CompletedCheckpoints::isCompleted)
                .filter(one -> begins(one) >= fromMillis && begins(one) < toMillis)
                .filter(one -> !one.getProperties().isSavepoint())
                .sorted(Comparator.comparingLong(CompletedCheckpoints::begins))
                .map(CompletedCheckpoints::figures)
                .toList();
    }

    private static boolean isCompleted(AbstractCheckpointStats checkpoint) {
        return checkpoint.getStatus() == CheckpointStatsStatus.COMPLETED;
    }

    private static long begins(AbstractCheckpointStats checkpoint) {
        return checkpoint.getTriggerTimestamp();
    }

    private static Checkpoint figures(AbstractCheckpointStats checkpoint) {
        return new Checkpoint(
                slowest(checkpoint, SubtaskStateStats::getSyncCheckpointDuration),
                slowest(checkpoint, SubtaskStateStats::getAsyncCheckpointDuration),
                checkpoint.getEndToEndDuration(),
                checkpoint.getCheckpointedSize() / BYTES_PER_MB,
                checkpoint.getStateSize() / BYTES_PER_MB);
    }

    private static long slowest(
            AbstractCheckpointStats checkpoint, ToLongFunction<SubtaskStateStats> duration) {
        long slowest = 0;
        for (TaskStateStats task : checkpoint.getAllTaskStateStats()) {
            for (SubtaskStateStats subtask : task.getSubtaskStats()) {
                slowest =
                        subtask == null
                                ? slowest
                                : Math.max(slowest, duration.applyAsLong(subtask));
            }
        }
        return slowest;
    }
}
