package io.afterbay.workloads.trafficjam;

import io.afterbay.workloads.run.EpochClock;
import io.afterbay.workloads.run.Schedule;
import io.afterbay.workloads.run.WorkloadException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.connector.base.source.reader.SingleThreadMultiplexSourceReaderBase;

/** The task's side of the source: positions, lateness and rejects, all exact after a restart. */
final class TraceSourceReader
        extends SingleThreadMultiplexSourceReaderBase<
                TraceLine, Report, TraceSplit, TraceProgress> {
    private static final String JOB_ID_VARIABLE = "<job_id>";

    private final TrafficJamOptions options;
    private final Rejects rejects;

    TraceSourceReader(TrafficJamOptions options, SourceReaderContext context, Rejects rejects) {
        super(
                () -> new TraceSplitReader(options),
                new TraceEmitter(
                        rejects, TrafficJamStatistics.of(options.run()), context.metricGroup()),
                context.getConfiguration(),
                context);
        this.options = options;
        this.rejects = rejects;
    }

    @Override
    public void addSplits(List<TraceSplit> splits) {
        for (TraceSplit split : splits) {
            begin(split);
        }
        super.addSplits(splits.stream().map(this::scheduled).toList());
    }

    private void begin(TraceSplit split) {
        try {
            refuseToReplayPipe(split);
            rejects.open(split.rejectsBytes());
        } catch (WorkloadException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void refuseToReplayPipe(TraceSplit split) throws WorkloadException {
        if (split.lineNumber() > 0 && !options.trace().isReplayable()) {
            throw new WorkloadException(
                    options.trace().displayName()
                            + " cannot be read again from line "
                            + split.lineNumber()
                            + ", so the job cannot restart; use a file to survive failures");
        }
    }

    private TraceSplit scheduled(TraceSplit split) {
        TraceSplit result = withSchedule(split);
        if (options.isOpenLoop()) {
            TrafficJamStatistics.of(options.run()).scheduled(result.schedule(), options);
        }
        return result;
    }

    private TraceSplit withSchedule(TraceSplit split) {
        String job = context.metricGroup().getAllVariables().getOrDefault(JOB_ID_VARIABLE, "");
        return split.schedule().belongsTo(job)
                ? split
                : split.scheduled(new Schedule(job, EpochClock.micros(), split.lines()));
    }

    @Override
    public void start() {
        if (getNumberOfCurrentlyAssignedSplits() == 0) {
            context.sendSplitRequest();
        }
    }

    @Override
    public List<TraceSplit> snapshotState(long checkpointId) {
        syncRejects();
        return super.snapshotState(checkpointId);
    }

    private void syncRejects() {
        try {
            rejects.sync();
        } catch (WorkloadException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    protected void onSplitFinished(Map<String, TraceProgress> finished) {
        // The next checkpoint knows no split, so nothing would be written again.
        syncRejects();
    }

    @Override
    protected TraceProgress initializedState(TraceSplit split) {
        return new TraceProgress(split);
    }

    @Override
    protected TraceSplit toSplitType(String splitId, TraceProgress progress) {
        progress.rejectsBytes(rejects.length());
        return progress.toSplit();
    }

    @Override
    public void close() throws Exception {
        try {
            super.close();
        } finally {
            rejects.close();
        }
    }
}
