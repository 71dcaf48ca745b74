package io.afterbay.cli.compare;

import io.afterbay.bench.Run;
import io.afterbay.bench.Timeline;
import io.afterbay.cli.measure.ForeignMeter;
import io.afterbay.cli.measure.LoopFigures;
import io.afterbay.cli.measure.OpenLoopMeter;
import io.afterbay.cli.measure.Phase;
import io.afterbay.cli.process.ProcessFigures;
import io.afterbay.command.CommandFailure;
import io.afterbay.workloads.run.RunStatistics;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.flink.runtime.checkpoint.AbstractCheckpointStats;
import org.apache.flink.runtime.checkpoint.CheckpointStatsStatus;
import org.jspecify.annotations.Nullable;

/** Collects the {@link Findings} of a worker, phase by phase. */
final class RunFindings {
    private static final double BYTES_PER_MB = 1e6;

    private final String backend;
    private final int pair;
    private final Map<String, String> rows = new LinkedHashMap<>();
    private @Nullable LoopFigures closedLoop;
    private @Nullable OpenLoopMeter openLoop;
    private @Nullable Timeline timeline;
    private @Nullable Double diskMb;

    RunFindings(String backend, int pair) {
        this.backend = backend;
        this.pair = pair;
    }

    void closedLoop(@Nullable LoopFigures figures, String rowsOut) {
        closedLoop = figures;
        rows.put(Phase.CLOSED_LOOP, rowsOut);
    }

    void openLoop(
            OpenLoopMeter meter,
            List<AbstractCheckpointStats> checkpoints,
            List<Timeline.Sample> samples) {
        openLoop = meter;
        rows.put(Phase.OPEN_LOOP, meter.rows());
        timeline = timeline(meter, completed(checkpoints, meter.startEpochMillis()), samples);
    }

    /**
     * Of a job that ran once, as it is: throughput and latencies are from the same run.
     *
     * @param rowSum null if its rows are not known
     */
    void foreign(
            ForeignMeter meter,
            RunStatistics statistics,
            List<AbstractCheckpointStats> checkpoints,
            List<Timeline.Sample> samples,
            @Nullable String rowSum)
            throws CommandFailure, IOException {
        closedLoop = meter.figures(statistics);
        if (closedLoop == null) {
            throw new CommandFailure("no record came from its sources, so nothing was measured");
        }
        openLoop(meter.markers(), checkpoints, samples);
        rows.clear();
        if (rowSum != null) {
            rows.put(Phase.AS_IT_IS, rowSum);
        }
    }

    /**
     * The JDK shows NullAway no type annotations of another module: it takes the nulls for wrong.
     */
    @SuppressWarnings("NullAway")
    private Timeline timeline(
            OpenLoopMeter meter,
            List<Timeline.Checkpoint> checkpoints,
            List<Timeline.Sample> samples) {
        return new Timeline(
                backend,
                pair,
                OpenLoopMeter.WINDOW_MS,
                meter.worstMsPerWindow(),
                meter.eventsPerWindow(),
                checkpoints,
                samples,
                meter.percentiles());
    }

    private static List<Timeline.Checkpoint> completed(
            List<AbstractCheckpointStats> checkpoints, long startEpochMillis) {
        return checkpoints.stream()
                .filter(one -> one.getStatus() == CheckpointStatsStatus.COMPLETED)
                .filter(one -> one.getTriggerTimestamp() >= startEpochMillis)
                .map(
                        one ->
                                new Timeline.Checkpoint(
                                        one.getTriggerTimestamp() - startEpochMillis,
                                        one.getEndToEndDuration(),
                                        one.getStateSize() / BYTES_PER_MB))
                .sorted((a, b) -> Double.compare(a.startMs(), b.startMs()))
                .toList();
    }

    void disk(double maxMb) {
        diskMb = maxMb;
    }

    /** What is known now. */
    Findings findings() {
        return new Findings(run(), timeline, Map.copyOf(rows));
    }

    private Run run() {
        LoopFigures closed = closedLoop;
        return new Run(
                backend,
                pair,
                null,
                closed == null ? null : closed.eventsPerS(),
                closed == null ? null : closed.cpuUsPerEvent(),
                closed == null ? null : closed.taskCpuUsPerEvent(),
                closed == null ? null : closed.backgroundCpuUsPerEvent(),
                closed == null ? null : closed.storeWriteCpuUsPerEvent(),
                closed == null ? null : closed.storeReadCpuUsPerEvent(),
                latencyMs(50),
                latencyMs(90),
                latencyMs(95),
                latencyMs(99),
                latencyMs(99.9),
                latencyMs(100),
                openLoop == null ? null : openLoop.longestPauseMs(),
                megabytes(ProcessFigures.peakResidentBytes()),
                diskMb,
                closed == null ? null : closed.writtenMb(),
                closed == null ? null : closed.gcMs());
    }

    private @Nullable Double latencyMs(double percent) {
        return openLoop == null ? null : openLoop.latencyMs(percent);
    }

    private static @Nullable Double megabytes(OptionalLong bytes) {
        return bytes.isPresent() ? bytes.getAsLong() / BYTES_PER_MB : null;
    }
}
