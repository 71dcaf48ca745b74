package io.afterbay.replay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.util.concurrent.FutureUtils;
import org.jspecify.annotations.Nullable;

/**
 * Reads by the reader of the source that is replayed: holds it back by not polling it, lets pass
 * what is in the range, and tells the enumerator how much that was. It never sleeps: while it is
 * held back it has nothing to give until a time, or until another rate comes, and checkpoints go
 * on.
 *
 * <p>Used by the task's thread only. The futures that it hands out are completed by any.
 */
final class ReplayReader<T, SplitT extends SourceSplit>
        implements SourceReader<T, ReplaySplit<SplitT>> {
    private static final long TELL_NANOS = Duration.ofMillis(500).toNanos();

    private final SourceReader<T, SplitT> reader;
    private final SourceReaderContext context;
    private final RangeOutput.Gate<T> gate;
    private final LongSupplier nanoClock;
    private final Pace pace;

    /**
     * What passed before a failure, by the ids of the counts; this reader goes on with the last.
     */
    private final Map<String, Long> counts = new HashMap<>();

    /** Outputs that Flink made for counts, which never say anything and so hold watermarks back. */
    private final List<String> silentOutputs = new ArrayList<>();

    private String countId = ReplaySplit.newCountId();
    private @Nullable RangeOutput<T> output;
    private CompletableFuture<Void> held = CompletableFuture.completedFuture(null);
    private boolean isHeld;
    private boolean wasHeld;
    private boolean hasUntold;
    private long toldAtNanos;
    private long toldNewestMs;

    ReplayReader(
            SourceReader<T, SplitT> reader,
            SourceReaderContext context,
            RangeOutput.Gate<T> gate,
            LongSupplier nanoClock) {
        this.reader = reader;
        this.context = context;
        this.gate = gate;
        this.nanoClock = nanoClock;
        this.pace = new Pace(nanoClock.getAsLong());
        counts.put(countId, 0L);
    }

    @Override
    public void start() {
        reader.start();
        tell(false);
    }

    @Override
    public InputStatus pollNext(ReaderOutput<T> main) throws Exception {
        RangeOutput<T> ranged = ranged(main);
        long nowNanos = nanoClock.getAsLong();
        if (hasUntold && nowNanos - toldAtNanos >= TELL_NANOS) {
            tell(false);
        }
        isHeld = !pace.allows(nowNanos);
        if (isHeld) {
            wasHeld = true;
            // A pause lasts until the enumerator ends it: nothing about it is news.
            hasUntold |= !pace.isPaused();
            return InputStatus.NOTHING_AVAILABLE;
        }
        InputStatus status = reader.pollNext(ranged);
        count();
        if (status == InputStatus.END_OF_INPUT) {
            tell(true);
        }
        return status;
    }

    private RangeOutput<T> ranged(ReaderOutput<T> main) {
        for (String id : silentOutputs) {
            main.releaseOutputForSplit(id);
        }
        silentOutputs.clear();
        RangeOutput<T> known = output;
        if (known == null || !known.isAround(main)) {
            known = new RangeOutput<>(gate, main);
            output = known;
        }
        return known;
    }

    private void count() {
        int passed = gate.takePassed();
        if (passed > 0) {
            pace.passed(passed);
            counts.merge(countId, (long) passed, Long::sum);
        }
        hasUntold |= passed > 0 || gate.newestMs() != toldNewestMs;
    }

    private void tell(boolean hasEnded) {
        context.sendSourceEventToCoordinator(
                new CountEvent(new HashMap<>(counts), gate.newestMs(), wasHeld, hasEnded));
        toldNewestMs = gate.newestMs();
        toldAtNanos = nanoClock.getAsLong();
        wasHeld = false;
        hasUntold = false;
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
        CompletableFuture<Void> next = isHeld ? untilAllowed() : reader.isAvailable();
        if (!hasUntold || next.isDone()) {
            return next;
        }
        CompletableFuture<Void> due = new CompletableFuture<>();
        long leftNanos = Math.max(1, toldAtNanos + TELL_NANOS - nanoClock.getAsLong());
        FutureUtils.completeDelayed(due, null, Duration.ofNanos(leftNanos).plusMillis(1));
        return CompletableFuture.anyOf(next, due).thenAccept(any -> {});
    }

    private CompletableFuture<Void> untilAllowed() {
        if (held.isDone()) {
            held = new CompletableFuture<>();
            if (!pace.isPaused()) {
                FutureUtils.completeDelayed(held, null, Duration.ofMillis(pace.waitMs()));
            }
        }
        return held;
    }

    @Override
    public void handleSourceEvents(SourceEvent event) {
        if (event instanceof PaceEvent changed) {
            pace.set(changed.recordsPerSecond(), nanoClock.getAsLong());
            held.complete(null);
        } else {
            reader.handleSourceEvents(event);
        }
    }

    @Override
    public List<ReplaySplit<SplitT>> snapshotState(long checkpointId) {
        List<ReplaySplit<SplitT>> state = new ArrayList<>();
        reader.snapshotState(checkpointId).forEach(split -> state.add(ReplaySplit.of(split)));
        counts.forEach((id, records) -> state.add(ReplaySplit.count(id, records, gate.newestMs())));
        return state;
    }

    @Override
    public void addSplits(List<ReplaySplit<SplitT>> splits) {
        List<SplitT> own = new ArrayList<>();
        for (ReplaySplit<SplitT> split : splits) {
            SplitT inner = split.split();
            if (inner == null) {
                restore(split);
            } else {
                own.add(inner);
            }
        }
        if (!own.isEmpty()) {
            reader.addSplits(own);
        }
    }

    private void restore(ReplaySplit<SplitT> count) {
        silentOutputs.add(count.splitId());
        if (counts.getOrDefault(countId, 0L) == 0) {
            counts.remove(countId);
        }
        countId = count.splitId();
        counts.put(countId, count.records());
        gate.hasRead(count.newestMs());
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
