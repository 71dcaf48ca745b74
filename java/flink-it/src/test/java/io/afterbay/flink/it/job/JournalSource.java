package io.afterbay.flink.it.job;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.connector.source.SplitsAssignment;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/** Replays a {@link Journal} at a given pace, from any position, at any parallelism. */
final class JournalSource implements Source<Posting, JournalPart, TreeMap<Integer, JournalPart>> {
    private static final long serialVersionUID = 1;

    private final Journal journal;
    private final Pace pace;

    JournalSource(Journal journal, Pace pace) {
        this.journal = journal;
        this.pace = pace;
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.CONTINUOUS_UNBOUNDED;
    }

    @Override
    public SourceReader<Posting, JournalPart> createReader(SourceReaderContext context) {
        return new JournalReader(journal, pace);
    }

    @Override
    public SplitEnumerator<JournalPart, TreeMap<Integer, JournalPart>> createEnumerator(
            SplitEnumeratorContext<JournalPart> context) {
        TreeMap<Integer, JournalPart> all = new TreeMap<>();
        for (int i = 0; i < journal.partitions(); i++) {
            all.put(i, new JournalPart(i, 0));
        }
        return new Enumerator(context, all);
    }

    @Override
    public SplitEnumerator<JournalPart, TreeMap<Integer, JournalPart>> restoreEnumerator(
            SplitEnumeratorContext<JournalPart> context, TreeMap<Integer, JournalPart> pending) {
        return new Enumerator(context, pending);
    }

    @Override
    public SimpleVersionedSerializer<JournalPart> getSplitSerializer() {
        return new JournalPart.PartSerializer();
    }

    @Override
    public SimpleVersionedSerializer<TreeMap<Integer, JournalPart>>
            getEnumeratorCheckpointSerializer() {
        return new JournalPart.PendingSerializer();
    }

    /**
     * Gives each reader its share as soon as it is there, and in one event: a reader that got its
     * partitions one by one could run ahead with the first, and postings of the others would be
     * late.
     */
    private record Enumerator(
            SplitEnumeratorContext<JournalPart> context, TreeMap<Integer, JournalPart> pending)
            implements SplitEnumerator<JournalPart, TreeMap<Integer, JournalPart>> {
        @Override
        public void start() {}

        @Override
        public void handleSplitRequest(int subtask, String host) {}

        @Override
        public void addSplitsBack(List<JournalPart> parts, int subtask) {
            JournalPart.addTo(pending, parts);
        }

        @Override
        public void addReader(int subtask) {
            List<JournalPart> share =
                    pending.values().stream()
                            .filter(p -> p.partition() % context.currentParallelism() == subtask)
                            .toList();
            context.assignSplits(new SplitsAssignment<>(Map.of(subtask, share)));
            share.forEach(part -> pending.remove(part.partition()));
            context.signalNoMoreSplits(subtask);
        }

        @Override
        public TreeMap<Integer, JournalPart> snapshotState(long checkpoint) {
            return new TreeMap<>(pending);
        }

        @Override
        public void close() {}
    }
}
