package io.afterbay.flink.unit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.flink.AfterbayKeyedStateBackend;
import io.afterbay.flink.AfterbayStateBackend;
import io.afterbay.testing.Await;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.queryablestate.client.state.serialization.KvStateSerializer;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.state.AsyncKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Ends of backends and snapshots, and what they give back. */
class LifeCycleTest {
    private final Backends backends = new Backends();

    @AfterEach
    void close() throws Exception {
        backends.close();
    }

    private static ValueState<Long> value(AfterbayKeyedStateBackend<Integer> backend)
            throws Exception {
        return backend.getPartitionedState(
                VoidNamespace.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                new ValueStateDescriptor<>("value", LongSerializer.INSTANCE));
    }

    private AfterbayKeyedStateBackend<Integer> filled() throws Exception {
        AfterbayKeyedStateBackend<Integer> backend = backends.open(IntSerializer.INSTANCE);
        for (int key = 0; key < 1000; key++) {
            backend.setCurrentKey(key);
            value(backend).update((long) key);
        }
        return backend;
    }

    @Test
    void disposingGivesEverythingBackAndCanBeRepeated() throws Exception {
        AfterbayKeyedStateBackend<Integer> backend = filled();
        assertThat(backends.environment.getMemoryManager().verifyEmpty()).isFalse();
        backend.dispose();
        backend.dispose();
        assertThat(backends.environment.getMemoryManager().verifyEmpty()).isTrue();
    }

    @Test
    void tooLittleMemoryIsSaidSo() throws Exception {
        AfterbayStateBackend small =
                new AfterbayStateBackend()
                        .configure(
                                Configuration.fromMap(
                                        Map.of(
                                                "state.backend.afterbay.memory.managed", "false",
                                                "state.backend.afterbay.memory.fixed-per-slot",
                                                        "1 kb")),
                                getClass().getClassLoader());
        assertThatThrownBy(
                        () ->
                                small.createKeyedStateBackend(
                                        backends.parameters(
                                                IntSerializer.INSTANCE, KeyGroupRange.of(0, 3))))
                .hasMessageContaining("memory")
                .hasMessageContaining("taskmanager.memory.managed");
        assertThat(backends.environment.getMemoryManager().verifyEmpty()).isTrue();
    }

    @Test
    void unusableLocalDirectoryIsNamed() throws Exception {
        AfterbayStateBackend elsewhere =
                new AfterbayStateBackend()
                        .configure(
                                Configuration.fromMap(
                                        Map.of(
                                                "state.backend.afterbay.local-directories",
                                                "/proc/nowhere")),
                                getClass().getClassLoader());
        assertThatThrownBy(
                        () ->
                                elsewhere.createKeyedStateBackend(
                                        backends.parameters(
                                                IntSerializer.INSTANCE, KeyGroupRange.of(0, 3))))
                .hasMessageContaining("/proc/nowhere")
                .hasMessageContaining("state.backend.afterbay.local-directories");
        assertThat(backends.environment.getMemoryManager().verifyEmpty()).isTrue();
    }

    /** Flink's own adaptor forgets to. */
    @Test
    void asynchronousBackendDisposesOfItsStore() throws Exception {
        AsyncKeyedStateBackend<Integer> backend =
                new AfterbayStateBackend()
                        .createAsyncKeyedStateBackend(
                                backends.parameters(
                                        IntSerializer.INSTANCE, KeyGroupRange.of(0, 3)));
        assertThat(backends.environment.getMemoryManager().verifyEmpty()).isFalse();
        backend.close();
        backend.dispose();
        assertThat(backends.environment.getMemoryManager().verifyEmpty()).isTrue();
    }

    @Test
    void snapshotThatIsCancelledBeforeItRunsIsReleased() throws Exception {
        AfterbayKeyedStateBackend<Integer> backend = filled();
        var snapshot =
                Backends.trigger(backend, CheckpointOptions.forCheckpointWithDefaultLocation());
        snapshot.cancel(true);
        snapshot.run();
        assertThatThrownBy(snapshot::get).isInstanceOf(CancellationException.class);
        backend.dispose();
        assertThat(backends.environment.getMemoryManager().verifyEmpty()).isTrue();
    }

    @Test
    void disposingCancelsSnapshots() throws Exception {
        AfterbayKeyedStateBackend<Integer> backend = filled();
        var snapshot =
                Backends.trigger(backend, CheckpointOptions.forCheckpointWithDefaultLocation());
        backend.dispose();
        snapshot.run();
        assertThatThrownBy(snapshot::get).isInstanceOf(Exception.class);
        assertThat(backends.environment.getMemoryManager().verifyEmpty()).isTrue();
    }

    /** Queries from another thread while the owner writes: each sees one of its two values. */
    @Test
    @SuppressWarnings("unchecked")
    void otherThreadsReadWholeValues() throws Exception {
        AfterbayKeyedStateBackend<Integer> backend = filled();
        ValueState<Long> value = value(backend);
        var raw = (InternalKvState<Integer, VoidNamespace, Long>) value;
        byte[] query =
                KvStateSerializer.serializeKeyAndNamespace(
                        7,
                        IntSerializer.INSTANCE,
                        VoidNamespace.INSTANCE,
                        VoidNamespaceSerializer.INSTANCE);
        AtomicBoolean done = new AtomicBoolean();
        Callable<Integer> reader =
                () -> {
                    int queries = 0;
                    while (!done.get() || queries < 10) {
                        byte[] bytes =
                                raw.getSerializedValue(
                                        query,
                                        IntSerializer.INSTANCE,
                                        VoidNamespaceSerializer.INSTANCE,
                                        LongSerializer.INSTANCE);
                        assertThat(
                                        KvStateSerializer.deserializeValue(
                                                bytes, LongSerializer.INSTANCE))
                                .isIn(7L, -7L);
                        queries++;
                    }
                    return queries;
                };
        ExecutorService threads = Executors.newSingleThreadExecutor();
        try {
            Future<Integer> queries = threads.submit(reader);
            for (int i = 0; i < 200_000; i++) {
                backend.setCurrentKey(i % 100);
                long key = i % 100;
                value.update(i % 200 < 100 ? key : -key);
            }
            done.set(true);
            assertThat(queries.get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS))
                    .isGreaterThanOrEqualTo(10);
        } finally {
            threads.shutdownNow();
        }
    }
}
