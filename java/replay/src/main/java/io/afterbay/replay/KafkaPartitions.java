package io.afterbay.replay;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.jspecify.annotations.Nullable;

/**
 * The enumerator of a bounded KafkaSource after a restore. The connector's looks for partitions
 * again, finds none that is new, and so never says that there will be no more: its readers wait for
 * ever (FLINK-31006; 5.0.0-2.2 still does). This one does not look, since the partitions of a
 * replay are those of its beginning, and says so to each reader.
 */
final class KafkaPartitions<SplitT extends SourceSplit, EnumT>
        implements SplitEnumerator<SplitT, EnumT> {
    /** Swallows what an enumerator begins in the background when it starts. */
    private static final class Context<SplitT extends SourceSplit> extends SplitContext<SplitT> {
        private boolean isStarting;

        Context(SplitContext<SplitT> context) {
            super(context);
        }

        @Override
        public <T> void callAsync(Callable<T> callable, BiConsumer<T, Throwable> handler) {
            if (!isStarting) {
                super.callAsync(callable, handler);
            }
        }
    }

    private final SplitEnumerator<SplitT, EnumT> enumerator;
    private final Context<SplitT> context;

    private KafkaPartitions(SplitEnumerator<SplitT, EnumT> enumerator, Context<SplitT> context) {
        this.enumerator = enumerator;
        this.context = context;
    }

    /** If the checkpoint is of a time before the partitions were known, they are looked for. */
    static <T, SplitT extends SourceSplit, EnumT> SplitEnumerator<SplitT, EnumT> restore(
            Source<T, SplitT, EnumT> source, SplitContext<SplitT> context, EnumT checkpoint)
            throws Exception {
        if (!areKnown(checkpoint)) {
            return source.restoreEnumerator(context, checkpoint);
        }
        Context<SplitT> quiet = new Context<>(context);
        return new KafkaPartitions<>(source.restoreEnumerator(quiet, checkpoint), quiet);
    }

    private static boolean areKnown(Object checkpoint) throws ReflectiveOperationException {
        return (boolean)
                checkpoint.getClass().getMethod("initialDiscoveryFinished").invoke(checkpoint);
    }

    @Override
    public void start() {
        context.isStarting = true;
        try {
            enumerator.start();
        } finally {
            context.isStarting = false;
        }
    }

    @Override
    public void addReader(int subtaskId) {
        enumerator.addReader(subtaskId);
        context.signalNoMoreSplits(subtaskId);
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
    public void handleSourceEvent(int subtaskId, SourceEvent event) {
        enumerator.handleSourceEvent(subtaskId, event);
    }

    @Override
    public void close() throws IOException {
        enumerator.close();
    }
}
