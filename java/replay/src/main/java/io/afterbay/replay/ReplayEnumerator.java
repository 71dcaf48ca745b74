package io.afterbay.replay;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.util.FlinkRuntimeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The enumerator of the source that is replayed, and beside it what is known and decided of all
 * readers: their shares of the rate, and how far they are.
 *
 * <p>Twice a second a thread of Flink's for such things reads the rate and writes the progress; all
 * else is done by the coordinator's thread.
 */
final class ReplayEnumerator<SplitT extends SourceSplit, EnumT>
        implements SplitEnumerator<ReplaySplit<SplitT>, ReplayEnumeratorState<EnumT>> {
    private static final Logger LOG = LoggerFactory.getLogger(ReplayEnumerator.class);

    private static final long PERIOD_MS = 500;

    /** Shares that are this close to what a reader has are not worth a message. */
    private static final double SHARE_TOLERANCE = 0.02;

    private final SplitEnumerator<SplitT, EnumT> enumerator;
    private final SplitEnumeratorContext<ReplaySplit<SplitT>> context;
    private final SourceControl control;
    private final ReplayRange range;
    private final Counts counts;
    private final RecentRate recentRate = new RecentRate();
    private final Map<Integer, RecentRate> ratesOfReaders = new HashMap<>();
    private final Map<Integer, Double> sentShares = new HashMap<>();
    private final LongSupplier nanoClock;
    private final @Nullable String begunBy;
    private volatile @Nullable Double rate;
    private boolean hadAllEnded;
    private volatile @Nullable ReplayProgress newest;
    private volatile @Nullable ReplayProgress told;

    /**
     * @param state to go on from
     * @param nanoClock {@link System#nanoTime}, but for tests
     */
    ReplayEnumerator(
            SplitEnumerator<SplitT, EnumT> enumerator,
            SplitEnumeratorContext<ReplaySplit<SplitT>> context,
            ReplayEnumeratorState<EnumT> state,
            ReplayRange range,
            SourceControl control,
            LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
        this.enumerator = enumerator;
        this.context = context;
        this.range = range;
        this.control = control;
        this.counts = new Counts(range.fromMs());
        counts.restore(state.counts());
        hadAllEnded = state.haveAllEnded();
        begunBy = state.replay();
    }

    @Override
    public void start() {
        requireOwnCheckpoint();
        enumerator.start();
        context.callAsync(this::meetControl, this::controlled, 0, PERIOD_MS);
    }

    /** Here, since Flink loses what is thrown while an enumerator is made from a checkpoint. */
    private void requireOwnCheckpoint() {
        if (begunBy != null && !begunBy.equals(control.replay())) {
            throw new ReplayImpossibleException(
                    "the checkpoint that replay %s begins with is one of replay %s, whose positions are in it: name a savepoint or checkpoint of the live job, or go on with the other replay by './afterbay replay resume'"
                            .formatted(control.replay(), begunBy));
        }
    }

    /** In another thread. */
    private Double meetControl() throws IOException {
        tellNewest();
        return control.rate(rate == null);
    }

    private synchronized void tellNewest() {
        ReplayProgress progress = newest;
        if (progress == null || progress.equals(told)) {
            return;
        }
        try {
            control.tell(progress);
            told = progress;
        } catch (IOException e) {
            // The replay does not need it, and the next one is half a second away.
            LOG.warn("the progress of {} could not be told", control, e);
        }
    }

    private void controlled(@Nullable Double newRate, @Nullable Throwable failure) {
        if (failure instanceof ReplayOverException over) {
            throw over;
        }
        if (failure instanceof ReplayImpossibleException noRate && rate == null) {
            throw noRate;
        }
        if (failure != null && rate == null) {
            throw new FlinkRuntimeException("no rate for " + control, failure);
        }
        Double before = rate;
        if (failure != null) {
            LOG.warn("the rate of {} cannot be read: it stays {}/s", control, rate, failure);
        } else {
            rate = Objects.requireNonNull(newRate);
        }
        measure(nanoClock.getAsLong());
        if (!Objects.equals(before, rate)) {
            recentRate.restart();
        }
        share();
    }

    private void measure(long nowNanos) {
        int parallelism = context.currentParallelism();
        boolean haveAllEnded = haveAllEnded();
        if (!counts.areKnown(parallelism) && !haveAllEnded) {
            // Some have not told yet what they have: what was told before them still holds.
            return;
        }
        long records = counts.records();
        recentRate.sample(nowNanos, records);
        for (int subtask = 0; subtask < parallelism; subtask++) {
            ratesOfReaders
                    .computeIfAbsent(subtask, unknown -> new RecentRate())
                    .sample(nowNanos, counts.records(subtask));
        }
        newest =
                new ReplayProgress(
                        records,
                        recentRate.perSecond(),
                        haveAllEnded ? range.toMs() : counts.reachedMs(),
                        haveAllEnded);
    }

    private boolean haveAllEnded() {
        return hadAllEnded || counts.haveAllEnded(context.currentParallelism());
    }

    private void share() {
        Double known = rate;
        if (known == null) {
            return;
        }
        Map<Integer, Shares.Reader> readers = new TreeMap<>();
        for (int subtask = 0; subtask < context.currentParallelism(); subtask++) {
            if (!counts.hasEnded(subtask)) {
                readers.put(subtask, reader(subtask));
            }
        }
        Map<Integer, Double> shares = Shares.of(known, readers);
        // What one gives up goes first, so that never more than the rate is given.
        shares.entrySet().stream()
                .sorted(Map.Entry.comparingByValue())
                .forEach(share -> send(share.getKey(), share.getValue()));
    }

    private Shares.Reader reader(int subtask) {
        RecentRate recent = ratesOfReaders.get(subtask);
        return new Shares.Reader(
                recent == null ? 0 : recent.perSecond(), counts.isHeldBack(subtask));
    }

    private void send(int subtask, double share) {
        if (!context.registeredReaders().containsKey(subtask)) {
            return;
        }
        Double sent = sentShares.get(subtask);
        if (sent == null || isAnother(share, sent)) {
            sentShares.put(subtask, share);
            context.sendEventToSourceReader(subtask, new PaceEvent(share));
        }
    }

    private static boolean isAnother(double share, double sent) {
        if (share == 0 || sent == 0 || Double.isInfinite(share) || Double.isInfinite(sent)) {
            return share != sent;
        }
        return Math.abs(share - sent) > SHARE_TOLERANCE * sent;
    }

    @Override
    public void addReader(int subtaskId) {
        hadAllEnded = false;
        counts.registered(subtaskId);
        ratesOfReaders.remove(subtaskId);
        sentShares.remove(subtaskId);
        enumerator.addReader(subtaskId);
        share();
    }

    @Override
    public void handleSourceEvent(int subtaskId, SourceEvent event) {
        if (!(event instanceof CountEvent told)) {
            enumerator.handleSourceEvent(subtaskId, event);
            return;
        }
        counts.told(subtaskId, told);
        if (told.hasEnded()) {
            share();
        }
        if (haveAllEnded()) {
            measure(nanoClock.getAsLong());
            context.callAsync(this::meetControl, this::controlled);
        }
    }

    @Override
    public void handleSplitRequest(int subtaskId, @Nullable String requesterHostname) {
        enumerator.handleSplitRequest(subtaskId, requesterHostname);
    }

    @Override
    public void addSplitsBack(List<ReplaySplit<SplitT>> splits, int subtaskId) {
        List<SplitT> own = new ArrayList<>();
        for (ReplaySplit<SplitT> split : splits) {
            SplitT inner = split.split();
            if (inner != null) {
                own.add(inner);
            }
        }
        enumerator.addSplitsBack(own, subtaskId);
    }

    @Override
    public ReplayEnumeratorState<EnumT> snapshotState(long checkpointId) throws Exception {
        return new ReplayEnumeratorState<>(
                enumerator.snapshotState(checkpointId),
                counts.snapshot(checkpointId),
                haveAllEnded(),
                control.replay());
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) throws Exception {
        counts.complete(checkpointId);
        enumerator.notifyCheckpointComplete(checkpointId);
    }

    @Override
    public void notifyCheckpointAborted(long checkpointId) throws Exception {
        enumerator.notifyCheckpointAborted(checkpointId);
    }

    /** The job has ended or failed; the thread that tells may have been ended first. */
    @Override
    public void close() throws IOException {
        enumerator.close();
        tellNewest();
    }
}
