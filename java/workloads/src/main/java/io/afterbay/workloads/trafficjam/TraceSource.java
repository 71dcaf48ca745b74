package io.afterbay.workloads.trafficjam;

import io.afterbay.workloads.run.SingleSplitEnumerator;
import io.afterbay.workloads.run.VersionedSerializer;
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
public final class TraceSource
        implements Source<Report, TraceSplit, SingleSplitEnumerator.Pending<TraceSplit>> {
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
    public SplitEnumerator<TraceSplit, SingleSplitEnumerator.Pending<TraceSplit>> createEnumerator(
            SplitEnumeratorContext<TraceSplit> context) {
        return new SingleSplitEnumerator<>(
                context, new SingleSplitEnumerator.Pending<>(TraceSplit.start()));
    }

    @Override
    public SplitEnumerator<TraceSplit, SingleSplitEnumerator.Pending<TraceSplit>> restoreEnumerator(
            SplitEnumeratorContext<TraceSplit> context,
            SingleSplitEnumerator.Pending<TraceSplit> checkpoint) {
        return new SingleSplitEnumerator<>(context, checkpoint);
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
    public SimpleVersionedSerializer<SingleSplitEnumerator.Pending<TraceSplit>>
            getEnumeratorCheckpointSerializer() {
        return SingleSplitEnumerator.serializer(TraceSplit::write, TraceSplit::read);
    }
}
