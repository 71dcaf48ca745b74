package io.afterbay.edge.lines;

import java.util.List;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.jspecify.annotations.Nullable;

/** Gives the file to the first reader. */
final class WholeFileEnumerator implements SplitEnumerator<LinesSource.Whole, LinesSource.Whole> {
    private static final int FIRST = 0;

    private final SplitEnumeratorContext<LinesSource.Whole> context;

    WholeFileEnumerator(SplitEnumeratorContext<LinesSource.Whole> context) {
        this.context = context;
    }

    @Override
    public void start() {}

    @Override
    public void addReader(int reader) {
        if (reader == FIRST) {
            context.assignSplit(new LinesSource.Whole(), reader);
        }
        context.signalNoMoreSplits(reader);
    }

    @Override
    public void handleSplitRequest(int reader, @Nullable String host) {}

    @Override
    public void addSplitsBack(List<LinesSource.Whole> splits, int reader) {}

    @Override
    public LinesSource.Whole snapshotState(long checkpoint) {
        return new LinesSource.Whole();
    }

    @Override
    public void close() {}
}
