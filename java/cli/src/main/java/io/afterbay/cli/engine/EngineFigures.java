package io.afterbay.cli.engine;

import io.afterbay.command.CommandFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.apache.flink.runtime.checkpoint.CheckpointStatsSnapshot;
import org.apache.flink.runtime.checkpoint.CompletedCheckpointStats;
import org.apache.flink.runtime.scheduler.ExecutionGraphInfo;
import org.apache.flink.runtime.scheduler.exceptionhistory.RootExceptionHistoryEntry;

/**
 * What the engine reports about the jobs of a run.
 *
 * @param completed checkpoints
 * @param stateBytes size of all state at the last completed checkpoint
 * @param longestMillis the longest completed checkpoint
 * @param failures task failures, in order of time, one line each
 */
public record EngineFigures(
        long completed, OptionalLong stateBytes, long longestMillis, List<String> failures) {

    public static final EngineFigures NONE =
            new EngineFigures(0, OptionalLong.empty(), 0, List.of());

    static EngineFigures of(ExecutionGraphInfo job) {
        CheckpointStatsSnapshot checkpoints =
                job.getArchivedExecutionGraph().getCheckpointStatsSnapshot();
        List<String> failures = failures(job);
        if (checkpoints == null) {
            return new EngineFigures(0, OptionalLong.empty(), 0, failures);
        }
        long completed = checkpoints.getCounts().getNumberOfCompletedCheckpoints();
        return new EngineFigures(
                completed,
                stateBytes(checkpoints),
                completed == 0
                        ? 0
                        : checkpoints.getSummaryStats().getEndToEndDurationStats().getMaximum(),
                failures);
    }

    /** The figures of this job and a later one as those of one. */
    public EngineFigures plus(EngineFigures later) {
        List<String> all = new ArrayList<>(failures);
        all.addAll(later.failures);
        return new EngineFigures(
                completed + later.completed,
                later.stateBytes.isPresent() ? later.stateBytes : stateBytes,
                Math.max(longestMillis, later.longestMillis),
                all);
    }

    private static OptionalLong stateBytes(CheckpointStatsSnapshot checkpoints) {
        Optional<CompletedCheckpointStats> last =
                Optional.ofNullable(checkpoints.getHistory().getLatestCompletedCheckpoint());
        return last.map(stats -> OptionalLong.of(stats.getStateSize()))
                .orElse(OptionalLong.empty());
    }

    private static List<String> failures(ExecutionGraphInfo job) {
        List<RootExceptionHistoryEntry> entries = new ArrayList<>();
        job.getExceptionHistory().forEach(entries::add);
        return entries.stream()
                .sorted((a, b) -> Long.compare(a.getTimestamp(), b.getTimestamp()))
                .map(entry -> CommandFailure.reason(Failures.root(Failures.known(entry))))
                .toList();
    }
}
