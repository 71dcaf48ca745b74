package io.afterbay.workloads.profiles;

import io.afterbay.workloads.run.EventSplit;
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
 * The records as a Flink source: bounded, in order, read by one instance. A checkpoint holds the
 * number of the next one, so a restart continues where it was.
 */
final class ProfileSource
        implements Source<Profile, EventSplit, SingleSplitEnumerator.Pending<EventSplit>> {
    private static final long serialVersionUID = 1;

    private final ProfilesOptions options;

    ProfileSource(ProfilesOptions options) {
        this.options = options;
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.BOUNDED;
    }

    @Override
    public SplitEnumerator<EventSplit, SingleSplitEnumerator.Pending<EventSplit>> createEnumerator(
            SplitEnumeratorContext<EventSplit> context) {
        return new SingleSplitEnumerator<>(
                context, new SingleSplitEnumerator.Pending<>(EventSplit.start()));
    }

    @Override
    public SplitEnumerator<EventSplit, SingleSplitEnumerator.Pending<EventSplit>> restoreEnumerator(
            SplitEnumeratorContext<EventSplit> context,
            SingleSplitEnumerator.Pending<EventSplit> checkpoint) {
        return new SingleSplitEnumerator<>(context, checkpoint);
    }

    @Override
    public SourceReader<Profile, EventSplit> createReader(SourceReaderContext context) {
        return new ProfileReader(options, context);
    }

    @Override
    public SimpleVersionedSerializer<EventSplit> getSplitSerializer() {
        return new VersionedSerializer<>(EventSplit::write, EventSplit::read);
    }

    @Override
    public SimpleVersionedSerializer<SingleSplitEnumerator.Pending<EventSplit>>
            getEnumeratorCheckpointSerializer() {
        return SingleSplitEnumerator.serializer(EventSplit::write, EventSplit::read);
    }
}
