package io.afterbay.workloads.trafficjam;

import java.util.List;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.jspecify.annotations.Nullable;

/** Hands the only split to the only reader. Its state is the split while nobody has it. */
final class TraceEnumerator implements SplitEnumerator<TraceSplit, TraceEnumerator.Pending> {

    /** The split that waits for a reader, if it does. */
    record Pending(@Nullable TraceSplit split) {}

    private final SplitEnumeratorContext<TraceSplit> context;
    private @Nullable TraceSplit split;

    TraceEnumerator(SplitEnumeratorContext<TraceSplit> context, Pending pending) {
        this.context = context;
        this.split = pending.split();
    }

    @Override
    public void start() {}

    @Override
    public void handleSplitRequest(int subtaskId, @Nullable String requesterHostname) {
        assign(subtaskId);
    }

    @Override
    public void addReader(int subtaskId) {
        assign(subtaskId);
    }

    private void assign(int subtaskId) {
        if (subtaskId != 0 || !context.registeredReaders().containsKey(subtaskId)) {
            return;
        }
        if (split != null) {
            context.assignSplit(split, subtaskId);
            split = null;
        }
        context.signalNoMoreSplits(subtaskId);
    }

    @Override
    public void addSplitsBack(List<TraceSplit> splits, int subtaskId) {
        for (TraceSplit returned : splits) {
            split = returned;
        }
    }

    @Override
    public Pending snapshotState(long checkpointId) {
        return new Pending(split);
    }

    @Override
    public void close() {}
}
