package io.afterbay.flink.it.job;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.core.io.InputStatus;

/**
 * Emits the postings of its partitions merged by position, and thereby by time: with whatever
 * positions a restore hands it, no posting is late.
 */
final class JournalReader implements SourceReader<Posting, JournalPart> {
    private static final long WAIT_MILLIS = 20;

    private final Journal journal;
    private final Pace pace;
    private final PriorityQueue<JournalPart> parts =
            new PriorityQueue<>(
                    Comparator.comparingInt(JournalPart::next)
                            .thenComparingInt(JournalPart::partition));
    private boolean complete;
    private boolean released;
    private int partitions;
    private long startNanos;
    private long emitted;

    JournalReader(Journal journal, Pace pace) {
        this.journal = journal;
        this.pace = pace;
    }

    @Override
    public void start() {
        startNanos = System.nanoTime();
    }

    @Override
    public InputStatus pollNext(ReaderOutput<Posting> output) {
        JournalPart part = parts.peek();
        if (part == null) {
            return complete ? InputStatus.END_OF_INPUT : InputStatus.NOTHING_AVAILABLE;
        }
        if (mustWait(part)) {
            return InputStatus.NOTHING_AVAILABLE;
        }
        parts.poll();
        Posting posting = journal.posting(part.partition(), part.next());
        output.collect(posting, posting.time);
        emitted++;
        if (part.next() + 1 < journal.postings()) {
            parts.add(new JournalPart(part.partition(), part.next() + 1));
        }
        return InputStatus.MORE_AVAILABLE;
    }

    private boolean mustWait(JournalPart part) {
        return part.next() >= pace.holdAt() && !isReleased() || isAhead();
    }

    private boolean isReleased() {
        released = released || (!pace.release().isEmpty() && Files.exists(Path.of(pace.release())));
        return released;
    }

    /** Of all its partitions: those that have ended are not waited for. */
    private boolean isAhead() {
        long due =
                (System.nanoTime() - startNanos)
                        / 1_000
                        * pace.perSecond()
                        * partitions
                        / 1_000_000;
        return emitted >= due;
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
        if (parts.isEmpty() && complete) {
            return CompletableFuture.completedFuture(null);
        }
        return CompletableFuture.runAsync(
                () -> {}, CompletableFuture.delayedExecutor(WAIT_MILLIS, TimeUnit.MILLISECONDS));
    }

    @Override
    public List<JournalPart> snapshotState(long checkpoint) {
        return List.copyOf(parts);
    }

    @Override
    public void addSplits(List<JournalPart> added) {
        parts.addAll(added);
        partitions += added.size();
    }

    @Override
    public void notifyNoMoreSplits() {
        complete = true;
    }

    @Override
    public void close() {}
}
