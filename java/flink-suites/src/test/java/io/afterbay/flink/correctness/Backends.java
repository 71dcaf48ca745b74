package io.afterbay.flink.correctness;

import io.afterbay.flink.contract.BackendUnderTest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.apache.flink.streaming.api.operators.StreamOperatorStateHandler;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;

/**
 * Keyed backends, keyed by strings, outside of any job. Closing disposes of them and fails if
 * managed memory has not come back.
 */
final class Backends implements AutoCloseable {
    static final long MANAGED_BYTES = 32L << 20;

    final MockEnvironment environment =
            new MockEnvironmentBuilder().setManagedMemorySize(MANAGED_BYTES).build();

    /** Of all backends. */
    MetricGroup metrics = environment.getMetricGroup();

    /** The clock of states with a time to live. */
    long now;

    private final List<AbstractKeyedStateBackend<?>> open = new ArrayList<>();

    AbstractKeyedStateBackend<String> ours(KeyedStateHandle... restore) throws Exception {
        return create(BackendUnderTest.create(), 128, List.of(restore));
    }

    AbstractKeyedStateBackend<String> create(
            StateBackend type, int keyGroups, Collection<KeyedStateHandle> restore)
            throws Exception {
        AbstractKeyedStateBackend<String> backend =
                (AbstractKeyedStateBackend<String>)
                        type.createKeyedStateBackend(
                                new KeyedStateBackendParametersImpl<>(
                                        environment,
                                        environment.getJobID(),
                                        "operator" + open.size(),
                                        StringSerializer.INSTANCE,
                                        keyGroups,
                                        new KeyGroupRange(0, keyGroups - 1),
                                        environment.getTaskKvStateRegistry(),
                                        () -> now,
                                        metrics,
                                        (name, value) -> {},
                                        restore,
                                        new CloseableRegistry(),
                                        1.0));
        open.add(backend);
        return backend;
    }

    /** A state under window namespaces, as a window operator has it. */
    @SuppressWarnings("unchecked") // a descriptor's states are internal states
    static <S extends State, I extends InternalKvState<String, TimeWindow, ?>> I windowed(
            AbstractKeyedStateBackend<String> backend, StateDescriptor<S, ?> descriptor)
            throws Exception {
        return (I)
                (InternalKvState<?, ?, ?>)
                        backend.getOrCreateKeyedState(new TimeWindow.Serializer(), descriptor);
    }

    static RunnableFuture<SnapshotResult<KeyedStateHandle>> beginCheckpoint(
            AbstractKeyedStateBackend<String> backend) throws Exception {
        return beginCheckpoint(backend, new MemCheckpointStreamFactory(64 << 20));
    }

    static RunnableFuture<SnapshotResult<KeyedStateHandle>> beginCheckpoint(
            AbstractKeyedStateBackend<String> backend, CheckpointStreamFactory streams)
            throws Exception {
        return backend.snapshot(
                1, 1, streams, CheckpointOptions.forCheckpointWithDefaultLocation());
    }

    static KeyedStateHandle checkpoint(AbstractKeyedStateBackend<String> backend) throws Exception {
        return finish(beginCheckpoint(backend));
    }

    static KeyedStateHandle canonicalSavepoint(AbstractKeyedStateBackend<String> backend)
            throws Exception {
        return finish(
                StreamOperatorStateHandler.prepareCanonicalSavepoint(
                                backend, new CloseableRegistry())
                        .snapshot(
                                1,
                                1,
                                new MemCheckpointStreamFactory(64 << 20),
                                savepoint(SavepointFormatType.CANONICAL)));
    }

    static CheckpointOptions savepoint(SavepointFormatType format) {
        return new CheckpointOptions(
                SavepointType.savepoint(format), CheckpointStorageLocationReference.getDefault());
    }

    static KeyedStateHandle finish(RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot)
            throws Exception {
        snapshot.run();
        return snapshot.get().getJobManagerOwnedSnapshot();
    }

    void dispose(AbstractKeyedStateBackend<String> backend) {
        open.remove(backend);
        backend.dispose();
    }

    @Override
    public void close() throws Exception {
        open.forEach(AbstractKeyedStateBackend::dispose);
        environment.close();
    }
}
