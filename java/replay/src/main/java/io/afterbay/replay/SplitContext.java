package io.afterbay.replay;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import org.apache.flink.api.connector.source.ReaderInfo;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.connector.source.SplitsAssignment;
import org.apache.flink.api.connector.source.SupportsIntermediateNoMoreSplits;
import org.apache.flink.metrics.groups.SplitEnumeratorMetricGroup;

/**
 * What the enumerator of the source that is replayed sees of Flink: its own splits. All else is
 * passed on.
 */
class SplitContext<SplitT extends SourceSplit>
        implements SplitEnumeratorContext<SplitT>, SupportsIntermediateNoMoreSplits {
    private final SplitEnumeratorContext<ReplaySplit<SplitT>> context;

    SplitContext(SplitEnumeratorContext<ReplaySplit<SplitT>> context) {
        this.context = context;
    }

    /** Another view of the same. */
    SplitContext(SplitContext<SplitT> other) {
        this(other.context);
    }

    @Override
    public SplitEnumeratorMetricGroup metricGroup() {
        return context.metricGroup();
    }

    @Override
    public void sendEventToSourceReader(int subtaskId, SourceEvent event) {
        context.sendEventToSourceReader(subtaskId, event);
    }

    @Override
    public void sendEventToSourceReader(int subtaskId, int attemptNumber, SourceEvent event) {
        context.sendEventToSourceReader(subtaskId, attemptNumber, event);
    }

    @Override
    public int currentParallelism() {
        return context.currentParallelism();
    }

    @Override
    public Map<Integer, ReaderInfo> registeredReaders() {
        return context.registeredReaders();
    }

    @Override
    public Map<Integer, Map<Integer, ReaderInfo>> registeredReadersOfAttempts() {
        return context.registeredReadersOfAttempts();
    }

    @Override
    public void assignSplits(SplitsAssignment<SplitT> assignment) {
        Map<Integer, List<ReplaySplit<SplitT>>> wrapped = new HashMap<>();
        assignment
                .assignment()
                .forEach(
                        (subtask, splits) ->
                                wrapped.put(
                                        subtask,
                                        new ArrayList<>(
                                                splits.stream().map(ReplaySplit::of).toList())));
        context.assignSplits(new SplitsAssignment<>(wrapped));
    }

    @Override
    public void signalNoMoreSplits(int subtask) {
        context.signalNoMoreSplits(subtask);
    }

    @Override
    public void signalIntermediateNoMoreSplits(int subtask) {
        if (context instanceof SupportsIntermediateNoMoreSplits able) {
            able.signalIntermediateNoMoreSplits(subtask);
        } else {
            context.signalNoMoreSplits(subtask);
        }
    }

    @Override
    public <T> void callAsync(Callable<T> callable, BiConsumer<T, Throwable> handler) {
        context.callAsync(callable, handler);
    }

    @Override
    public <T> void callAsync(
            Callable<T> callable,
            BiConsumer<T, Throwable> handler,
            long initialDelayMillis,
            long periodMillis) {
        context.callAsync(callable, handler, initialDelayMillis, periodMillis);
    }

    @Override
    public void runInCoordinatorThread(Runnable runnable) {
        context.runInCoordinatorThread(runnable);
    }

    @Override
    public void setIsProcessingBacklog(boolean isProcessingBacklog) {
        context.setIsProcessingBacklog(isProcessingBacklog);
    }
}
