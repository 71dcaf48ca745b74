package io.afterbay.flink.unit;

import io.afterbay.flink.AfterbayKeyedStateBackend;
import io.afterbay.flink.AfterbayStateBackend;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SavepointSnapshotStrategy;
import org.apache.flink.runtime.state.SnapshotExecutionType;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.SnapshotStrategyRunner;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;

/** Keyed backends for tests, in one environment; disposed of together. */
final class Backends implements AutoCloseable {
    static final int KEY_GROUPS = 4;

    final MockEnvironment environment =
            new MockEnvironmentBuilder().setManagedMemorySize(64L << 20).build();
    private final StateBackend type;
    private final int totalKeyGroups;
    private final List<AbstractKeyedStateBackend<?>> open = new ArrayList<>();
    long now;

    Backends() {
        this(new AfterbayStateBackend());
    }

    Backends(StateBackend type) {
        this(type, KEY_GROUPS);
    }

    Backends(StateBackend type, int totalKeyGroups) {
        this.type = type;
        this.totalKeyGroups = totalKeyGroups;
    }

    <K> AfterbayKeyedStateBackend<K> open(TypeSerializer<K> keys, KeyedStateHandle... handles)
            throws Exception {
        return (AfterbayKeyedStateBackend<K>) openAny(keys, handles);
    }

    <K> AbstractKeyedStateBackend<K> openAny(TypeSerializer<K> keys, KeyedStateHandle... handles)
            throws Exception {
        AbstractKeyedStateBackend<K> backend =
                (AbstractKeyedStateBackend<K>)
                        type.createKeyedStateBackend(
                                parameters(keys, KeyGroupRange.of(0, totalKeyGroups - 1), handles));
        open.add(backend);
        return backend;
    }

    <K> KeyedStateBackendParametersImpl<K> parameters(
            TypeSerializer<K> keys, KeyGroupRange keyGroups, KeyedStateHandle... handles) {
        return new KeyedStateBackendParametersImpl<>(
                environment,
                new JobID(),
                "operator",
                keys,
                totalKeyGroups,
                keyGroups,
                environment.getTaskKvStateRegistry(),
                () -> now,
                new UnregisteredMetricsGroup(),
                (name, value) -> {},
                Arrays.asList(handles),
                new CloseableRegistry(),
                1.0);
    }

    static KeyedStateHandle checkpoint(AbstractKeyedStateBackend<?> backend) throws Exception {
        return run(trigger(backend, CheckpointOptions.forCheckpointWithDefaultLocation()));
    }

    static KeyedStateHandle nativeSavepoint(AbstractKeyedStateBackend<?> backend) throws Exception {
        return run(
                trigger(
                        backend,
                        new CheckpointOptions(
                                SavepointType.savepoint(SavepointFormatType.NATIVE),
                                CheckpointStorageLocationReference.getDefault())));
    }

    static RunnableFuture<SnapshotResult<KeyedStateHandle>> trigger(
            AbstractKeyedStateBackend<?> backend, CheckpointOptions options) throws Exception {
        return backend.snapshot(1, 1, streams(), options);
    }

    static <K> KeyedStateHandle canonicalSavepoint(AbstractKeyedStateBackend<K> backend)
            throws Exception {
        return run(
                new SnapshotStrategyRunner<>(
                                "savepoint",
                                new SavepointSnapshotStrategy<>(
                                        backend.savepoint().getSnapshotResources()),
                                new CloseableRegistry(),
                                SnapshotExecutionType.ASYNCHRONOUS)
                        .snapshot(
                                1,
                                1,
                                streams(),
                                CheckpointOptions.forCheckpointWithDefaultLocation()));
    }

    private static MemCheckpointStreamFactory streams() {
        return new MemCheckpointStreamFactory(64 << 20);
    }

    static KeyedStateHandle run(RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot)
            throws Exception {
        snapshot.run();
        return snapshot.get().getJobManagerOwnedSnapshot();
    }

    @Override
    public void close() throws Exception {
        open.forEach(AbstractKeyedStateBackend::dispose);
        environment.close();
    }
}
