package io.afterbay.flink;

import io.afterbay.flink.incremental.IncrementalSnapshotStrategy;
import io.afterbay.flink.incremental.IncrementalSnapshots;
import io.afterbay.flink.snapshot.CanonicalResources;
import io.afterbay.flink.snapshot.FullSnapshotStrategy;
import io.afterbay.flink.snapshot.SnapshotContent;
import io.afterbay.flink.state.KeyScan;
import io.afterbay.flink.state.KeyedStates;
import io.afterbay.flink.state.KvState;
import io.afterbay.flink.state.ObjectTier;
import io.afterbay.flink.state.StateContext;
import io.afterbay.flink.timers.TimerQueues;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.RunnableFuture;
import java.util.stream.Stream;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.query.TaskKvStateRegistry;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.InternalKeyContext;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.Keyed;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.PriorityComparable;
import org.apache.flink.runtime.state.SavepointResources;
import org.apache.flink.runtime.state.SnapshotExecutionType;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.SnapshotStrategyRunner;
import org.apache.flink.runtime.state.StateSnapshotTransformer.StateSnapshotTransformFactory;
import org.apache.flink.runtime.state.StreamCompressionDecorator;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;
import org.apache.flink.runtime.state.metrics.LatencyTrackingStateConfig;
import org.apache.flink.runtime.state.metrics.SizeTrackingStateConfig;
import org.jspecify.annotations.Nullable;

/**
 * The keyed state of one operator instance in one store. All of it, timers included, is part of
 * every snapshot. The synchronous part of a full snapshot freezes the store, and the asynchronous
 * part streams it; incremental checkpoints: {@link IncrementalSnapshots}.
 */
public final class AfterbayKeyedStateBackend<K> extends AbstractKeyedStateBackend<K> {
    private final StateContext<K> context;
    private final KeyedStates<K> states;
    private final TimerQueues timers;
    private final LocalRecoveryConfig localRecovery;
    private final StoreMetrics metrics;
    private final @Nullable IncrementalSnapshots<K> incremental;
    private final UUID identity = UUID.randomUUID();
    private final BackendResources resources;

    AfterbayKeyedStateBackend(
            TaskKvStateRegistry kvStateRegistry,
            StateContext<K> context,
            TimerQueues timers,
            ClassLoader userCodeClassLoader,
            ExecutionConfig executionConfig,
            LatencyTrackingStateConfig latencyTracking,
            SizeTrackingStateConfig sizeTracking,
            CloseableRegistry cancelStreamRegistry,
            StreamCompressionDecorator compression,
            InternalKeyContext<K> keyContext,
            LocalRecoveryConfig localRecovery,
            StoreMetrics metrics,
            @Nullable IncrementalSnapshots<K> incremental,
            BackendResources resources) {
        super(
                kvStateRegistry,
                context.keySerializer(),
                userCodeClassLoader,
                executionConfig,
                context.ttlTime(),
                latencyTracking,
                sizeTracking,
                cancelStreamRegistry,
                compression,
                keyContext);
        this.context = context;
        this.states = new KeyedStates<>(context);
        this.timers = timers;
        this.localRecovery = localRecovery;
        this.metrics = metrics;
        this.incremental = incremental;
        this.resources = resources;
    }

    @Override
    public String getBackendTypeIdentifier() {
        return AfterbayStateBackend.NAME;
    }

    /**
     * A state keeps no reference to what it was given or gave out, but to immutable objects in the
     * {@link ObjectTier}.
     */
    @Override
    public boolean isSafeToReuseKVState() {
        return true;
    }

    @Override
    public void setCurrentKey(K newKey) {
        context.gate().pass();
        super.setCurrentKey(newKey);
        keyChanged();
    }

    @Override
    public void setCurrentKeyAndKeyGroup(K newKey, int newKeyGroupIndex) {
        context.gate().pass();
        super.setCurrentKeyAndKeyGroup(newKey, newKeyGroupIndex);
        keyChanged();
    }

    private void keyChanged() {
        context.currentKey().set(getCurrentKey(), getCurrentKeyGroupIndex());
        metrics.keyChanged();
    }

    @Override
    public <N, SV, SEV, S extends State, IS extends S> IS createOrUpdateInternalState(
            TypeSerializer<N> namespaceSerializer,
            StateDescriptor<S, SV> stateDesc,
            StateSnapshotTransformFactory<SEV> snapshotTransformFactory)
            throws Exception {
        return createOrUpdateInternalState(
                namespaceSerializer, stateDesc, snapshotTransformFactory, false);
    }

    /** Expired values are filtered by their bytes; the transform factory is not needed for it. */
    @Override
    @SuppressWarnings("unchecked") // the caller names the state's class
    public <N, SV, SEV, S extends State, IS extends S> IS createOrUpdateInternalState(
            TypeSerializer<N> namespaceSerializer,
            StateDescriptor<S, SV> stateDesc,
            StateSnapshotTransformFactory<SEV> snapshotTransformFactory,
            boolean allowFutureMetadataUpdates)
            throws Exception {
        context.gate().pass();
        return (IS)
                states.createOrUpdate(namespaceSerializer, stateDesc, allowFutureMetadataUpdates);
    }

    @Override
    public <T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
            KeyGroupedInternalPriorityQueue<T> create(
                    String stateName, TypeSerializer<T> byteOrderedElementSerializer) {
        return create(stateName, byteOrderedElementSerializer, false);
    }

    @Override
    public <T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
            KeyGroupedInternalPriorityQueue<T> create(
                    String stateName,
                    TypeSerializer<T> byteOrderedElementSerializer,
                    boolean allowFutureMetadataUpdates) {
        context.gate().pass();
        return timers.create(
                stateName,
                byteOrderedElementSerializer,
                context.currentKey(),
                allowFutureMetadataUpdates);
    }

    @Override
    public <N> Stream<K> getKeys(String state, N namespace) {
        KeyScan<K, N> scan = scan(state);
        return scan == null ? Stream.empty() : scan.keys(namespace);
    }

    /** Each key once, whichever of the states have it. */
    @Override
    public <N> Stream<K> getKeys(List<String> stateNames, N namespace) {
        List<KeyScan<K, N>> before = new ArrayList<>();
        List<Stream<K>> keys = new ArrayList<>();
        for (String name : stateNames) {
            KeyScan<K, N> scan = scan(name);
            if (scan != null) {
                keys.add(scan.keys(namespace, List.copyOf(before)));
                before.add(scan);
            }
        }
        return keys.stream().reduce(Stream.empty(), Stream::concat);
    }

    @Override
    public <N> Stream<Tuple2<K, N>> getKeysAndNamespaces(String state) {
        KeyScan<K, N> scan = scan(state);
        return scan == null ? Stream.empty() : scan.keysAndNamespaces();
    }

    @SuppressWarnings("unchecked") // a state's name stands for its types
    private <N> @Nullable KeyScan<K, N> scan(String state) {
        KvState<N, ?> registered = (KvState<N, ?>) context.registry().state(state);
        return registered == null ? null : new KeyScan<>(context, registered);
    }

    @Override
    public int numKeyValueStateEntries() {
        return context.registry().states().stream()
                .mapToInt(state -> new KeyScan<>(context, state).count())
                .sum();
    }

    /** As {@link #numKeyValueStateEntries()}, of one namespace; for tests of operators. */
    public int numKeyValueStateEntries(Object namespace) {
        return (int)
                context.registry().states().stream()
                        .flatMap(state -> getKeysAndNamespaces(state.name()))
                        .filter(entry -> namespace.equals(entry.f1))
                        .count();
    }

    @Override
    public RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot(
            long checkpointId,
            long timestamp,
            CheckpointStreamFactory streamFactory,
            CheckpointOptions checkpointOptions)
            throws Exception {
        context.gate().pass();
        context.objects().writeBack();
        metrics.sample();
        boolean isSavepoint = checkpointOptions.getCheckpointType().isSavepoint();
        SnapshotStrategyRunner<KeyedStateHandle, ?> runner =
                incremental == null || isSavepoint
                        ? fullSnapshot()
                        : incrementalSnapshot(incremental, streamFactory, checkpointOptions);
        return AnnouncedCheckpoint.begin(
                resources.maintenance(),
                () -> runner.snapshot(checkpointId, timestamp, streamFactory, checkpointOptions));
    }

    private SnapshotStrategyRunner<KeyedStateHandle, ?> fullSnapshot() {
        return new SnapshotStrategyRunner<>(
                "Afterbay full snapshot",
                new FullSnapshotStrategy<>(
                        this::content, keyGroupCompressionDecorator, localRecovery),
                cancelStreamRegistry,
                SnapshotExecutionType.ASYNCHRONOUS);
    }

    private SnapshotStrategyRunner<KeyedStateHandle, ?> incrementalSnapshot(
            IncrementalSnapshots<K> snapshots,
            CheckpointStreamFactory storage,
            CheckpointOptions options) {
        return new SnapshotStrategyRunner<>(
                "Afterbay incremental snapshot",
                new IncrementalSnapshotStrategy<>(snapshots, identity, storage, options),
                cancelStreamRegistry,
                SnapshotExecutionType.ASYNCHRONOUS);
    }

    @Override
    public SavepointResources<K> savepoint() {
        context.gate().pass();
        return new SavepointResources<>(
                new CanonicalResources<>(content(), keyGroupCompressionDecorator),
                SnapshotExecutionType.ASYNCHRONOUS);
    }

    private SnapshotContent<K> content() {
        return SnapshotContent.freeze(context);
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {
        context.gate().pass();
        if (incremental != null) {
            incremental.completed(checkpointId);
        }
    }

    @Override
    public void notifyCheckpointAborted(long checkpointId) {
        context.gate().pass();
        if (incremental != null) {
            incremental.aborted(checkpointId);
        }
    }

    @Override
    public void dispose() {
        super.dispose();
        context.gate().end();
        if (incremental != null) {
            incremental.close();
        }
        resources.close();
    }
}
