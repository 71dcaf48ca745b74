package io.afterbay.workloads.run;

import java.util.List;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.jspecify.annotations.Nullable;

/** Hands the only split to the first reader. Its state is the split while nobody has it. */
public final class SingleSplitEnumerator<S extends SourceSplit>
        implements SplitEnumerator<S, SingleSplitEnumerator.Pending<S>> {

    /** The split that waits for a reader, if it does. */
    public record Pending<S>(@Nullable S split) {}

    private final SplitEnumeratorContext<S> context;
    private @Nullable S split;

    public SingleSplitEnumerator(SplitEnumeratorContext<S> context, Pending<S> pending) {
        this.context = context;
        this.split = pending.split();
    }

    /** The serializer of its state, from the methods that write and read a split. */
    public static <S> SimpleVersionedSerializer<Pending<S>> serializer(
            VersionedSerializer.Writer<S> writer, VersionedSerializer.Reader<S> reader) {
        return new VersionedSerializer<>(
                (pending, out) -> {
                    S split = pending.split();
                    out.writeBoolean(split != null);
                    if (split != null) {
                        writer.write(split, out);
                    }
                },
                in -> new Pending<>(in.readBoolean() ? reader.read(in) : null));
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
        if (!context.registeredReaders().containsKey(subtaskId)) {
            return;
        }
        if (subtaskId == 0 && split != null) {
            context.assignSplit(split, subtaskId);
            split = null;
        }
        context.signalNoMoreSplits(subtaskId);
    }

    @Override
    public void addSplitsBack(List<S> splits, int subtaskId) {
        for (S returned : splits) {
            split = returned;
        }
    }

    @Override
    public Pending<S> snapshotState(long checkpointId) {
        return new Pending<>(split);
    }

    @Override
    public void close() {}
}
