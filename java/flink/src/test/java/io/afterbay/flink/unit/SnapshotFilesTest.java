package io.afterbay.flink.unit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.flink.AfterbayKeyedStateBackend;
import java.io.File;
import java.util.List;
import java.util.UUID;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupsSavepointStateHandle;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.util.ExceptionUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is in a snapshot, and what is refused. */
class SnapshotFilesTest {
    private static final ValueStateDescriptor<String> VALUE =
            new ValueStateDescriptor<>("value", StringSerializer.INSTANCE);
    private static final ListStateDescriptor<Long> LIST =
            new ListStateDescriptor<>("list", LongSerializer.INSTANCE);
    private static final MapStateDescriptor<Integer, String> MAP =
            new MapStateDescriptor<>("map", IntSerializer.INSTANCE, StringSerializer.INSTANCE);
    private static final int KEYS = 40;

    private final Backends backends = new Backends();

    @AfterEach
    void close() throws Exception {
        backends.close();
    }

    private static void fill(AbstractKeyedStateBackend<Integer> backend) throws Exception {
        for (int key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            state(backend, VALUE).update("v" + key);
            state(backend, LIST).update(List.of((long) key, -1L));
            state(backend, MAP).put(key, null);
            state(backend, MAP).put(-key - 1, "m" + key);
        }
    }

    private static <S extends org.apache.flink.api.common.state.State> S state(
            AbstractKeyedStateBackend<Integer> backend,
            org.apache.flink.api.common.state.StateDescriptor<S, ?> descriptor)
            throws Exception {
        return backend.getPartitionedState(
                VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, descriptor);
    }

    private static void assertFilled(
            AbstractKeyedStateBackend<Integer> backend, int first, int last) throws Exception {
        for (int key = first; key <= last; key++) {
            backend.setCurrentKey(key);
            assertThat(state(backend, VALUE).value()).isEqualTo("v" + key);
            assertThat(state(backend, LIST).get()).containsExactly((long) key, -1L);
            assertThat(state(backend, MAP).contains(key)).isTrue();
            assertThat(state(backend, MAP).get(key)).isNull();
            assertThat(state(backend, MAP).get(-key - 1)).isEqualTo("m" + key);
        }
    }

    @Test
    void restoresCheckpoints() throws Exception {
        AfterbayKeyedStateBackend<Integer> first = backends.open(IntSerializer.INSTANCE);
        fill(first);
        KeyedStateHandle handle = Backends.checkpoint(first);
        assertThat(handle.getClass()).isEqualTo(KeyGroupsStateHandle.class);
        assertFilled(backends.open(IntSerializer.INSTANCE, handle), 0, KEYS - 1);
    }

    @Test
    void restoresNativeSavepoints() throws Exception {
        AfterbayKeyedStateBackend<Integer> first = backends.open(IntSerializer.INSTANCE);
        fill(first);
        KeyedStateHandle handle = Backends.nativeSavepoint(first);
        assertFilled(backends.open(IntSerializer.INSTANCE, handle), 0, KEYS - 1);
    }

    @Test
    void restoresCanonicalSavepoints() throws Exception {
        AfterbayKeyedStateBackend<Integer> first = backends.open(IntSerializer.INSTANCE);
        fill(first);
        KeyedStateHandle handle = Backends.canonicalSavepoint(first);
        assertThat(handle).isInstanceOf(KeyGroupsSavepointStateHandle.class);
        assertFilled(backends.open(IntSerializer.INSTANCE, handle), 0, KEYS - 1);
    }

    @Test
    void holdsWhatWasThereAtTheBarrier() throws Exception {
        AfterbayKeyedStateBackend<Integer> first = backends.open(IntSerializer.INSTANCE);
        fill(first);
        var snapshot =
                Backends.trigger(
                        first,
                        org.apache.flink.runtime.checkpoint.CheckpointOptions
                                .forCheckpointWithDefaultLocation());
        for (int key = 0; key < KEYS; key++) {
            first.setCurrentKey(key);
            state(first, VALUE).update("later");
            state(first, LIST).clear();
            state(first, MAP).put(key, "later");
        }
        KeyedStateHandle handle = Backends.run(snapshot);
        assertFilled(backends.open(IntSerializer.INSTANCE, handle), 0, KEYS - 1);
    }

    /** Every byte of the file matters: whichever is flipped, the restore fails, and says where. */
    @Test
    void noticesEveryDamagedByte() throws Exception {
        AfterbayKeyedStateBackend<Integer> first = backends.open(IntSerializer.INSTANCE);
        for (int key = 0; key < 3; key++) {
            first.setCurrentKey(key);
            state(first, VALUE).update("v" + key);
        }
        KeyGroupsStateHandle handle = (KeyGroupsStateHandle) Backends.checkpoint(first);
        byte[] bytes = bytes(handle);
        for (int at = 0; at < bytes.length; at++) {
            byte[] damaged = bytes.clone();
            damaged[at] ^= 1;
            KeyedStateHandle other = withBytes(handle, damaged);
            assertThatThrownBy(() -> backends.open(IntSerializer.INSTANCE, other))
                    .as("byte %d of %d", at, bytes.length)
                    .isInstanceOf(Exception.class);
        }
        byte[] damaged = bytes.clone();
        damaged[bytes.length - 12] ^= 1;
        assertThatThrownBy(() -> backends.open(IntSerializer.INSTANCE, withBytes(handle, damaged)))
                .hasMessageContaining("snapshot-file")
                .hasMessageContaining("key group 3, block ")
                .hasMessageContaining("restore from another checkpoint");
    }

    @Test
    void noticesATruncatedFile() throws Exception {
        AfterbayKeyedStateBackend<Integer> first = backends.open(IntSerializer.INSTANCE);
        fill(first);
        KeyGroupsStateHandle handle = (KeyGroupsStateHandle) Backends.checkpoint(first);
        byte[] bytes = bytes(handle);
        KeyedStateHandle cut = withBytes(handle, java.util.Arrays.copyOf(bytes, bytes.length - 1));
        assertThatThrownBy(() -> backends.open(IntSerializer.INSTANCE, cut))
                .hasMessageContaining("an end of the file");
    }

    @Test
    void refusesNewerFormats() throws Exception {
        AfterbayKeyedStateBackend<Integer> first = backends.open(IntSerializer.INSTANCE);
        fill(first);
        KeyGroupsStateHandle handle = (KeyGroupsStateHandle) Backends.checkpoint(first);
        byte[] bytes = bytes(handle);
        bytes[11] = 2; // the version follows eight bytes of magic
        assertThatThrownBy(() -> backends.open(IntSerializer.INSTANCE, withBytes(handle, bytes)))
                .hasMessageContaining("is in format 2 of the Afterbay backend")
                .hasMessageContaining("up to 1");
    }

    @Test
    void refusesCheckpointsOfHashMap() throws Exception {
        try (Backends others = new Backends(new HashMapStateBackend())) {
            AbstractKeyedStateBackend<Integer> other = others.openAny(IntSerializer.INSTANCE);
            fill(other);
            KeyedStateHandle handle = Backends.checkpoint(other);
            assertThatThrownBy(() -> backends.open(IntSerializer.INSTANCE, handle))
                    .hasMessageContaining("of the HashMap backend")
                    .hasMessageContaining("--type canonical");
        }
    }

    @Test
    void refusesCheckpointsOfRocksDb() {
        KeyedStateHandle handle =
                new IncrementalRemoteKeyedStateHandle(
                        UUID.randomUUID(),
                        KeyGroupRange.of(0, Backends.KEY_GROUPS - 1),
                        1,
                        List.of(),
                        List.of(),
                        new ByteStreamStateHandle("meta", new byte[0]));
        assertThatThrownBy(() -> backends.open(IntSerializer.INSTANCE, handle))
                .hasMessageContaining("of the RocksDB or ForSt backend")
                .hasMessageContaining("--type canonical");
    }

    @Test
    void refusesCheckpointsOfTheChangelog() {
        KeyedStateHandle handle =
                new ChangelogStateBackendHandle.ChangelogStateBackendHandleImpl(
                        List.of(),
                        List.of(),
                        KeyGroupRange.of(0, Backends.KEY_GROUPS - 1),
                        1,
                        1,
                        0);
        assertThatThrownBy(() -> backends.open(IntSerializer.INSTANCE, handle))
                .hasMessageContaining("state.changelog.enabled")
                .hasMessageContaining("--type canonical");
    }

    @Test
    void othersRefuseOurs() throws Exception {
        AfterbayKeyedStateBackend<Integer> first = backends.open(IntSerializer.INSTANCE);
        fill(first);
        KeyedStateHandle handle = Backends.checkpoint(first);
        for (org.apache.flink.runtime.state.StateBackend other :
                List.of(new HashMapStateBackend(), new EmbeddedRocksDBStateBackend())) {
            try (Backends others = new Backends(other)) {
                assertThatThrownBy(() -> others.openAny(IntSerializer.INSTANCE, handle))
                        .satisfies(
                                e ->
                                        assertThat(ExceptionUtils.stringifyException(e))
                                                .contains("Incompatible version"));
            }
        }
    }

    @Test
    void rescales() throws Exception {
        AfterbayKeyedStateBackend<Integer> whole = backends.open(IntSerializer.INSTANCE);
        fill(whole);
        KeyGroupsStateHandle handle = (KeyGroupsStateHandle) Backends.checkpoint(whole);
        KeyedStateHandle[] parts = {
            part(handle.getIntersection(KeyGroupRange.of(0, 0))),
            part(handle.getIntersection(KeyGroupRange.of(1, Backends.KEY_GROUPS - 1)))
        };
        assertFilled(backends.open(IntSerializer.INSTANCE, parts), 0, KEYS - 1);
    }

    /** The state of a part of the key groups, written by a backend that has only those. */
    private KeyedStateHandle part(KeyGroupsStateHandle handle) throws Exception {
        AbstractKeyedStateBackend<Integer> backend =
                new io.afterbay.flink.AfterbayStateBackend()
                        .createKeyedStateBackend(
                                backends.parameters(
                                        IntSerializer.INSTANCE, handle.getKeyGroupRange(), handle));
        try {
            return Backends.checkpoint(backend);
        } finally {
            backend.dispose();
        }
    }

    @Test
    void leavesNothingBehind() throws Exception {
        File[] before = localFiles();
        AfterbayKeyedStateBackend<Integer> first = backends.open(IntSerializer.INSTANCE);
        fill(first);
        KeyGroupsStateHandle handle = (KeyGroupsStateHandle) Backends.checkpoint(first);
        byte[] bytes = bytes(handle);
        bytes[bytes.length - 1] ^= 1;
        assertThatThrownBy(() -> backends.open(IntSerializer.INSTANCE, withBytes(handle, bytes)))
                .isInstanceOf(Exception.class);
        first.dispose();
        assertThat(localFiles()).isEqualTo(before);
        assertThat(backends.environment.getMemoryManager().verifyEmpty()).isTrue();
    }

    private File[] localFiles() {
        return backends.environment
                .getIOManager()
                .getSpillingDirectories()[0]
                .listFiles((directory, name) -> name.startsWith("afterbay"));
    }

    private static byte[] bytes(KeyGroupsStateHandle handle) {
        return ((ByteStreamStateHandle) handle.getDelegateStateHandle()).getData().clone();
    }

    private static KeyedStateHandle withBytes(KeyGroupsStateHandle handle, byte[] bytes) {
        return new KeyGroupsStateHandle(
                handle.getGroupRangeOffsets(), new ByteStreamStateHandle("snapshot-file", bytes));
    }
}
