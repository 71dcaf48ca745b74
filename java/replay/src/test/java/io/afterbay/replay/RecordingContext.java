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
import org.apache.flink.metrics.groups.SplitEnumeratorMetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;

/** Keeps what an enumerator does, and does what it asks for at once. */
final class RecordingContext<SplitT extends SourceSplit> implements SplitEnumeratorContext<SplitT> {
    final Map<Integer, ReaderInfo> readers = new HashMap<>();
    final List<SplitT> assigned = new ArrayList<>();
    final List<SourceEvent> sent = new ArrayList<>();
    final List<Integer> withoutMore = new ArrayList<>();

    /** What is asked for again and again. */
    Runnable periodic = () -> {};

    void register(int subtask) {
        readers.put(subtask, new ReaderInfo(subtask, "localhost"));
    }

    @Override
    public SplitEnumeratorMetricGroup metricGroup() {
        return UnregisteredMetricsGroup.createSplitEnumeratorMetricGroup();
    }

    @Override
    public void sendEventToSourceReader(int subtaskId, SourceEvent event) {
        sent.add(event);
    }

    @Override
    public int currentParallelism() {
        return 1;
    }

    @Override
    public Map<Integer, ReaderInfo> registeredReaders() {
        return readers;
    }

    @Override
    public void assignSplits(SplitsAssignment<SplitT> assignment) {
        assignment.assignment().values().forEach(assigned::addAll);
    }

    @Override
    public void signalNoMoreSplits(int subtask) {
        withoutMore.add(subtask);
    }

    @Override
    public <T> void callAsync(Callable<T> callable, BiConsumer<T, Throwable> handler) {
        T result;
        try {
            result = callable.call();
        } catch (Exception e) {
            handler.accept(null, e);
            return;
        }
        handler.accept(result, null);
    }

    @Override
    public <T> void callAsync(
            Callable<T> callable, BiConsumer<T, Throwable> handler, long initialMs, long periodMs) {
        periodic = () -> callAsync(callable, handler);
        periodic.run();
    }

    @Override
    public void runInCoordinatorThread(Runnable runnable) {
        runnable.run();
    }
}
