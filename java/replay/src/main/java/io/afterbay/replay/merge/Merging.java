package io.afterbay.replay.merge;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedMultiInput;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.jspecify.annotations.Nullable;

/**
 * Stands before a sink: its first input are the rows of the replay, the second one the log that the
 * sink writes to, in its order. Both are {@link Envelope}s, and partitioned by their keys.
 *
 * <p>A subtask has finished when the replay has no more rows, all that it has written has come back
 * and is in its place, and nothing that an earlier attempt wrote can be unread ({@link Barriers}).
 * From then on it writes nothing, also after a failure, so what the live job writes is last.
 */
final class Merging extends AbstractStreamOperator<byte[]>
        implements TwoInputStreamOperator<byte[], byte[], byte[]>, BoundedMultiInput {
    private static final long serialVersionUID = 1;

    private static final int REPLAY_INPUT = 1;
    private static final String UNSETTLED = "unsettled";
    private static final long TELL_MS = 500;

    /**
     * @param unsettled there for keys that are not settled, so that they can be counted
     * @param counts conflicts, corrections, parallelism, and 1 if this subtask has finished
     * @param samples of {@link Barriers}
     */
    private record Kept(
            ValueState<byte[]> merge,
            ValueState<Boolean> unsettled,
            ListState<long[]> counts,
            ListState<Tuple2<Integer, String>> samples) {
        static Kept in(StateInitializationContext context) throws Exception {
            KeyedStateStore keyed = context.getKeyedStateStore();
            return new Kept(
                    keyed.getState(
                            new ValueStateDescriptor<>(
                                    "merge",
                                    PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO)),
                    keyed.getState(new ValueStateDescriptor<>(UNSETTLED, Types.BOOLEAN)),
                    context.getOperatorStateStore()
                            .getListState(
                                    new ListStateDescriptor<>(
                                            "counts",
                                            PrimitiveArrayTypeInfo.LONG_PRIMITIVE_ARRAY_TYPE_INFO)),
                    context.getOperatorStateStore()
                            .getListState(
                                    new ListStateDescriptor<>(
                                            "samples", Types.TUPLE(Types.INT, Types.STRING))));
        }
    }

    private final Resolver resolver;
    private final String replayId;
    private final long sinceMs;
    private final transient OperatorEventGateway coordinator;

    /** No other row of any replay has a name that begins so. */
    private final String attempt = UUID.randomUUID().toString();

    private long emissions;

    private transient @Nullable Kept kept;

    private long conflicts;
    private long corrections;
    private long unsettled;
    private Barriers barriers = new Barriers(Map.of());
    private boolean hasReplayEnded;
    private boolean hasFinished;
    private @Nullable MergeEvent told;

    Merging(
            StreamOperatorParameters<byte[]> parameters,
            Resolver resolver,
            String replayId,
            long sinceMs,
            OperatorEventGateway coordinator) {
        super(parameters);
        this.resolver = resolver;
        this.replayId = replayId;
        this.sinceMs = sinceMs;
        this.coordinator = coordinator;
    }

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
        super.initializeState(context);
        Kept state = Kept.in(context);
        kept = state;
        if (context.isRestored()) {
            restore(state);
        }
    }

    private void restore(Kept state) throws Exception {
        for (long[] count : state.counts().get()) {
            conflicts += count[0];
            corrections += count[1];
            checkParallelism(count[2]);
            // What the live job wrote since then was not looked at: what is known may be outdated.
            hasFinished = count[3] == 1;
        }
        try (var keys = getKeyedStateBackend().getKeys(UNSETTLED, VoidNamespace.INSTANCE)) {
            unsettled = keys.count();
        }
        Map<Integer, String> samples = new HashMap<>();
        for (Tuple2<Integer, String> sample : state.samples().get()) {
            samples.put(sample.f0, sample.f1);
        }
        barriers = new Barriers(samples);
    }

    /** Keys that come from another subtask would have neither its samples nor its end. */
    private void checkParallelism(long before) {
        int now = parallelism();
        if (before != now) {
            throw new MergeImpossibleException(
                    "the merge before a sink had parallelism %d and now has %d, with which it cannot go on: give the job the parallelism that it had, or cancel the replay and begin it again"
                            .formatted(before, now));
        }
    }

    private int parallelism() {
        return getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks();
    }

    private Kept kept() {
        return Objects.requireNonNull(kept);
    }

    @Override
    public void open() throws Exception {
        super.open();
        getProcessingTimeService().scheduleWithFixedDelay(timestamp -> tell(), 0, TELL_MS);
    }

    @Override
    public void processElement1(StreamRecord<byte[]> element) throws Exception {
        KeyMerge merge = merge();
        boolean wasSettled = merge.isSettled();
        switch (merge.replayed(Envelope.open(element.getValue()).row(), resolver)) {
            case WRITE -> write(merge);
            case LIVE_WINS -> conflicts++;
            case OUTDATED -> {
                return;
            }
        }
        keep(merge, wasSettled);
    }

    @Override
    public void processElement2(StreamRecord<byte[]> element) throws Exception {
        if (hasFinished) {
            return;
        }
        KeyMerge merge = merge();
        boolean wasSettled = merge.isSettled();
        LogRow row = Envelope.open(element.getValue());
        if (merge.read(row, replayId, sinceMs, resolver)) {
            conflicts++;
        }
        if (isOfThisAttempt(row)) {
            barriers.passed(merge.partition());
        }
        if (merge.isDue()) {
            corrections++;
            write(merge);
        }
        keep(merge, wasSettled);
        finishIfSettled();
    }

    private boolean isOfThisAttempt(LogRow row) {
        Provenance provenance = row.provenance();
        return provenance != null && provenance.emission().startsWith(attempt);
    }

    private KeyMerge merge() throws Exception {
        byte[] state = kept().merge().value();
        return state == null ? new KeyMerge() : Envelope.merge(state);
    }

    private void write(KeyMerge merge) throws Exception {
        OutputRow row = merge.write(replayId, attempt + "-" + emissions++);
        StreamRecord<byte[]> written = new StreamRecord<>(Envelope.written(row));
        Long timestampMs = row.timestampMs();
        if (timestampMs != null) {
            written.setTimestamp(timestampMs);
        }
        output.collect(written);
    }

    private void keep(KeyMerge merge, boolean wasSettled) throws Exception {
        barriers.met(merge, (String) getCurrentKey());
        kept().merge().update(Envelope.state(merge));
        if (wasSettled && !merge.isSettled()) {
            unsettled++;
            kept().unsettled().update(true);
        } else if (!wasSettled && merge.isSettled()) {
            unsettled--;
            kept().unsettled().clear();
        }
    }

    @Override
    public void endInput(int input) throws Exception {
        if (input == REPLAY_INPUT) {
            hasReplayEnded = true;
            finishIfSettled();
        }
    }

    private void finishIfSettled() throws Exception {
        if (!hasReplayEnded || unsettled > 0 || hasFinished) {
            return;
        }
        for (String key : barriers.missing()) {
            setCurrentKey(key);
            KeyMerge merge = merge();
            write(merge);
            keep(merge, true);
        }
        if (unsettled == 0) {
            hasFinished = true;
            tell();
        }
    }

    /** Again and again when it has finished, since who waits for that may be restored meanwhile. */
    private void tell() {
        MergeEvent news =
                new MergeEvent(new MergeFigures(conflicts, corrections, unsettled), hasFinished);
        if (hasFinished || !news.equals(told)) {
            coordinator.sendEventToCoordinator(news);
            told = news;
        }
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
        super.snapshotState(context);
        kept().counts()
                .update(
                        List.of(
                                new long[] {
                                    conflicts, corrections, parallelism(), hasFinished ? 1 : 0
                                }));
        List<Tuple2<Integer, String>> samples = new ArrayList<>();
        barriers.samples().forEach((partition, key) -> samples.add(Tuple2.of(partition, key)));
        kept().samples().update(samples);
    }
}
