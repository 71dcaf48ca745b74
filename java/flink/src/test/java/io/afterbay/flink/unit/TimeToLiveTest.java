package io.afterbay.flink.unit;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.flink.AfterbayKeyedStateBackend;
import io.afterbay.flink.AfterbayStateBackend;
import java.time.Duration;
import java.util.stream.LongStream;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What has expired leaves store and snapshots though nobody reads it again. */
class TimeToLiveTest {
    private static final int KEYS = 200;
    private static final StateTtlConfig TTL =
            StateTtlConfig.newBuilder(Duration.ofMillis(100)).build();

    private final Backends backends = new Backends(type());

    StateBackend type() {
        return new AfterbayStateBackend();
    }

    @AfterEach
    void close() throws Exception {
        backends.close();
    }

    private static <D extends StateDescriptor<?, ?>> D withTtl(D descriptor, StateTtlConfig ttl) {
        descriptor.enableTimeToLive(ttl);
        return descriptor;
    }

    private static ValueStateDescriptor<Long> value(StateTtlConfig ttl) {
        return withTtl(new ValueStateDescriptor<>("value", LongSerializer.INSTANCE), ttl);
    }

    private static ListStateDescriptor<Long> list() {
        return withTtl(new ListStateDescriptor<>("list", LongSerializer.INSTANCE), TTL);
    }

    private static MapStateDescriptor<Long, Long> map() {
        return withTtl(
                new MapStateDescriptor<>("map", LongSerializer.INSTANCE, LongSerializer.INSTANCE),
                TTL);
    }

    private static <S extends State> S state(
            AfterbayKeyedStateBackend<Integer> backend, StateDescriptor<S, ?> descriptor)
            throws Exception {
        return backend.getPartitionedState(
                VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, descriptor);
    }

    private static void fill(AfterbayKeyedStateBackend<Integer> backend) throws Exception {
        for (int key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            state(backend, value(TTL)).update(1L);
            state(backend, list()).addAll(LongStream.range(0, 10).boxed().toList());
            state(backend, map()).put(1L, 1L);
            state(backend, map()).put(2L, 2L);
        }
    }

    @Test
    void accessesToOtherKeysCleanUp() throws Exception {
        AfterbayKeyedStateBackend<Integer> backend = backends.open(IntSerializer.INSTANCE);
        fill(backend);
        assertThat(backend.numKeyValueStateEntries()).isEqualTo(4 * KEYS);
        backends.now = 1000;
        for (int i = 0; i < KEYS; i++) {
            backend.setCurrentKey(-1);
            state(backend, value(TTL)).value();
            state(backend, list()).get();
            state(backend, map()).get(1L);
        }
        assertThat(backend.numKeyValueStateEntries()).isZero();
    }

    @Test
    void liveEntriesStay() throws Exception {
        AfterbayKeyedStateBackend<Integer> backend = backends.open(IntSerializer.INSTANCE);
        fill(backend);
        backends.now = 90;
        for (int key = 0; key < KEYS; key += 2) {
            backend.setCurrentKey(key);
            state(backend, value(TTL)).update(2L);
        }
        backends.now = 150;
        for (int i = 0; i < KEYS; i++) {
            backend.setCurrentKey(-1);
            state(backend, value(TTL)).value();
        }
        assertThat(backend.getKeys("value", VoidNamespace.INSTANCE))
                .hasSize(KEYS / 2)
                .allMatch(key -> key % 2 == 0);
    }

    /** Neither the store nor the object tier has it any more. */
    @Test
    void whatIsCleanedUpIsGoneAlsoAsAnObject() throws Exception {
        AfterbayKeyedStateBackend<Integer> backend = backends.open(IntSerializer.INSTANCE);
        fill(backend);
        Backends.checkpoint(backend);
        backends.now = 1000;
        for (int i = 0; i < KEYS; i++) {
            backend.setCurrentKey(-1);
            state(backend, value(TTL)).value();
        }
        backends.now = 0; // so that Flink's own filter hides nothing
        for (int key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            assertThat(state(backend, value(TTL)).value()).isNull();
        }
    }

    /** A list is rewritten once half of it has expired, and keeps its order. */
    @Test
    void listsLoseWhatExpired() throws Exception {
        AfterbayKeyedStateBackend<Integer> backend = backends.open(IntSerializer.INSTANCE);
        backend.setCurrentKey(1);
        ListState<Long> list = state(backend, list());
        list.addAll(LongStream.range(0, 60).boxed().toList());
        backends.now = 50;
        list.addAll(LongStream.range(60, 100).boxed().toList());
        backends.now = 120;
        backend.setCurrentKey(2);
        for (int i = 0; i < 10; i++) {
            state(backend, list()).get();
        }
        backend.setCurrentKey(1);
        backends.now = 0; // so that Flink's own filter hides nothing
        assertThat(state(backend, list()).get())
                .containsExactlyElementsOf(LongStream.range(60, 100).boxed().toList());
    }

    @Test
    void snapshotsLeaveOutWhatHadExpired() throws Exception {
        AfterbayKeyedStateBackend<Integer> backend = backends.open(IntSerializer.INSTANCE);
        fill(backend);
        backends.now = 1000;
        for (KeyedStateHandle handle :
                new KeyedStateHandle[] {
                    Backends.checkpoint(backend), Backends.canonicalSavepoint(backend)
                }) {
            AfterbayKeyedStateBackend<Integer> restored =
                    backends.open(IntSerializer.INSTANCE, handle);
            assertThat(restored.numKeyValueStateEntries()).isZero();
        }
    }

    /** A snapshot is of its barrier, however late it is written. */
    @Test
    void snapshotsKeepWhatWasAliveAtTheBarrier() throws Exception {
        AfterbayKeyedStateBackend<Integer> backend = backends.open(IntSerializer.INSTANCE);
        fill(backend);
        backends.now = 50;
        var snapshot =
                Backends.trigger(backend, CheckpointOptions.forCheckpointWithDefaultLocation());
        backends.now = 1000;
        AfterbayKeyedStateBackend<Integer> restored =
                backends.open(IntSerializer.INSTANCE, Backends.run(snapshot));
        assertThat(restored.numKeyValueStateEntries()).isEqualTo(4 * KEYS);
    }

    @Test
    void cleanupCanBeSwitchedOff() throws Exception {
        StateTtlConfig kept =
                StateTtlConfig.newBuilder(Duration.ofMillis(100))
                        .disableCleanupInBackground()
                        .build();
        AfterbayKeyedStateBackend<Integer> backend = backends.open(IntSerializer.INSTANCE);
        for (int key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            ValueState<Long> state = state(backend, value(kept));
            state.update(1L);
        }
        backends.now = 1000;
        for (int i = 0; i < KEYS; i++) {
            backend.setCurrentKey(-1);
            state(backend, value(kept)).value();
        }
        assertThat(backend.numKeyValueStateEntries()).isEqualTo(KEYS);
        AfterbayKeyedStateBackend<Integer> restored =
                backends.open(IntSerializer.INSTANCE, Backends.checkpoint(backend));
        assertThat(restored.numKeyValueStateEntries()).isEqualTo(KEYS);
    }
}
