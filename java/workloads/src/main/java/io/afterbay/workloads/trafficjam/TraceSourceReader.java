package io.afterbay.workloads.trafficjam;

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
                new TraceEmitter(rejects, RunStatistics.of(options.run()), context.metricGroup()),
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
        } catch (TrafficJamException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void refuseToReplayPipe(TraceSplit split) throws TrafficJamException {
        if (split.lineNumber() > 0 && !options.trace().isReplayable()) {
            throw new TrafficJamException(
                    options.trace().displayName()
                            + " cannot be read again from line "
                            + split.lineNumber()
                            + ", so the job cannot restart; use a file to survive failures");
        }
    }

    private TraceSplit scheduled(TraceSplit split) {
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
        } catch (TrafficJamException e) {
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
