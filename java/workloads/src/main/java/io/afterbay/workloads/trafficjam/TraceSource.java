package io.afterbay.workloads.trafficjam;

import io.afterbay.workloads.run.VersionedSerializer;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * The trace as a Flink source of parallelism 1: which report is late depends on all reports before
 * it. A checkpoint holds the position behind the last report that entered the job.
 */
public final class TraceSource implements Source<Report, TraceSplit, TraceEnumerator.Pending> {
    private static final long serialVersionUID = 1;

    private final TrafficJamOptions options;

    public TraceSource(TrafficJamOptions options) {
        this.options = options;
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.BOUNDED;
    }

    @Override
    public SplitEnumerator<TraceSplit, TraceEnumerator.Pending> createEnumerator(
            SplitEnumeratorContext<TraceSplit> context) {
        return new TraceEnumerator(context, new TraceEnumerator.Pending(TraceSplit.start()));
    }

    @Override
    public SplitEnumerator<TraceSplit, TraceEnumerator.Pending> restoreEnumerator(
            SplitEnumeratorContext<TraceSplit> context, TraceEnumerator.Pending checkpoint) {
        return new TraceEnumerator(context, checkpoint);
    }

    @Override
    public SourceReader<Report, TraceSplit> createReader(SourceReaderContext context) {
        return new TraceSourceReader(options, context, new Rejects(options.rejects()));
    }

    @Override
    public SimpleVersionedSerializer<TraceSplit> getSplitSerializer() {
        return new VersionedSerializer<>(TraceSplit::write, TraceSplit::read);
    }

    @Override
    public SimpleVersionedSerializer<TraceEnumerator.Pending> getEnumeratorCheckpointSerializer() {
        return new VersionedSerializer<>(TraceSource::writePending, TraceSource::readPending);
    }

    private static void writePending(TraceEnumerator.Pending pending, DataOutputStream out)
            throws IOException {
        TraceSplit split = pending.split();
        out.writeBoolean(split != null);
        if (split != null) {
            split.write(out);
        }
    }

    private static TraceEnumerator.Pending readPending(DataInputStream in) throws IOException {
        return new TraceEnumerator.Pending(in.readBoolean() ? TraceSplit.read(in) : null);
    }
}
