package io.afterbay.replay.merge;

import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.jspecify.annotations.Nullable;

/** Passes the end on to each reader, once: one that has ended takes no more. */
final class LogEnumerator<SplitT extends SourceSplit, EnumT>
        implements SplitEnumerator<SplitT, EnumT> {
    private final SplitEnumerator<SplitT, EnumT> enumerator;
    private final SplitEnumeratorContext<SplitT> context;
    private final Set<Integer> ended = new HashSet<>();

    LogEnumerator(
            SplitEnumerator<SplitT, EnumT> enumerator, SplitEnumeratorContext<SplitT> context) {
        this.enumerator = enumerator;
        this.context = context;
    }

    @Override
    public void handleSourceEvent(int subtaskId, SourceEvent event) {
        if (!(event instanceof EndEvent)) {
            enumerator.handleSourceEvent(subtaskId, event);
            return;
        }
        for (int reader : List.copyOf(context.registeredReaders().keySet())) {
            if (ended.add(reader)) {
                context.sendEventToSourceReader(reader, event);
            }
        }
    }

    @Override
    public void start() {
        enumerator.start();
    }

    @Override
    public void addReader(int subtaskId) {
        ended.remove(subtaskId);
        enumerator.addReader(subtaskId);
    }

    @Override
    public void handleSplitRequest(int subtaskId, @Nullable String requesterHostname) {
        enumerator.handleSplitRequest(subtaskId, requesterHostname);
    }

    @Override
    public void addSplitsBack(List<SplitT> splits, int subtaskId) {
        enumerator.addSplitsBack(splits, subtaskId);
    }

    @Override
    public EnumT snapshotState(long checkpointId) throws Exception {
        return enumerator.snapshotState(checkpointId);
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) throws Exception {
        enumerator.notifyCheckpointComplete(checkpointId);
    }

    @Override
    public void notifyCheckpointAborted(long checkpointId) throws Exception {
        enumerator.notifyCheckpointAborted(checkpointId);
    }

    @Override
    public void close() throws IOException {
        enumerator.close();
    }
}
