package io.afterbay.workloads.run;

import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * A source whose records follow from their numbers: in order, read by one instance. A checkpoint
 * holds the number of the next one, so a restart continues where it was.
 */
public abstract class GeneratedSource<T>
        implements Source<T, EventSplit, SingleSplitEnumerator.Pending<EventSplit>> {
    private static final long serialVersionUID = 1;

    @Override
    public final SplitEnumerator<EventSplit, SingleSplitEnumerator.Pending<EventSplit>>
            createEnumerator(SplitEnumeratorContext<EventSplit> context) {
        return new SingleSplitEnumerator<>(
                context, new SingleSplitEnumerator.Pending<>(EventSplit.start()));
    }

    @Override
    public final SplitEnumerator<EventSplit, SingleSplitEnumerator.Pending<EventSplit>>
            restoreEnumerator(
                    SplitEnumeratorContext<EventSplit> context,
                    SingleSplitEnumerator.Pending<EventSplit> checkpoint) {
        return new SingleSplitEnumerator<>(context, checkpoint);
    }

    @Override
    public final SimpleVersionedSerializer<EventSplit> getSplitSerializer() {
        return new VersionedSerializer<>(EventSplit::write, EventSplit::read);
    }

    @Override
    public final SimpleVersionedSerializer<SingleSplitEnumerator.Pending<EventSplit>>
            getEnumeratorCheckpointSerializer() {
        return SingleSplitEnumerator.serializer(EventSplit::write, EventSplit::read);
    }
}
