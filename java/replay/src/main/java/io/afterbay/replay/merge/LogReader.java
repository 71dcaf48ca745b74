package io.afterbay.replay.merge;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.core.io.InputStatus;

/** Reads until it is told to end. Used by the task's thread only. */
final class LogReader<SplitT extends SourceSplit> implements SourceReader<byte[], SplitT> {
    private final SourceReader<byte[], SplitT> reader;
    private final CompletableFuture<Void> end = new CompletableFuture<>();

    LogReader(SourceReader<byte[], SplitT> reader) {
        this.reader = reader;
    }

    @Override
    public InputStatus pollNext(ReaderOutput<byte[]> output) throws Exception {
        return end.isDone() ? InputStatus.END_OF_INPUT : reader.pollNext(output);
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
        CompletableFuture<Void> next = reader.isAvailable();
        return next.isDone() ? next : CompletableFuture.anyOf(next, end).thenAccept(either -> {});
    }

    @Override
    public void handleSourceEvents(SourceEvent event) {
        if (event instanceof EndEvent) {
            end.complete(null);
        } else {
            reader.handleSourceEvents(event);
        }
    }

    @Override
    public void start() {
        reader.start();
    }

    @Override
    public List<SplitT> snapshotState(long checkpointId) {
        return reader.snapshotState(checkpointId);
    }

    @Override
    public void addSplits(List<SplitT> splits) {
        reader.addSplits(splits);
    }

    @Override
    public void notifyNoMoreSplits() {
        reader.notifyNoMoreSplits();
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) throws Exception {
        reader.notifyCheckpointComplete(checkpointId);
    }

    @Override
    public void notifyCheckpointAborted(long checkpointId) throws Exception {
        reader.notifyCheckpointAborted(checkpointId);
    }

    @Override
    public void pauseOrResumeSplits(
            Collection<String> splitsToPause, Collection<String> splitsToResume) {
        reader.pauseOrResumeSplits(splitsToPause, splitsToResume);
    }

    @Override
    public void close() throws Exception {
        reader.close();
    }
}
