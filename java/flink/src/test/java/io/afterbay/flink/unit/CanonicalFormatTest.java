package io.afterbay.flink.unit;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.flink.AfterbayStateBackend;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntFunction;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StateSerializerProvider;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.runtime.state.restore.FullSnapshotRestoreOperation;
import org.apache.flink.runtime.state.restore.KeyGroup;
import org.apache.flink.runtime.state.restore.KeyGroupEntry;
import org.apache.flink.runtime.state.restore.SavepointRestoreResult;
import org.apache.flink.runtime.state.restore.ThrowingIterator;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Our canonical savepoints have, byte for byte, the entries that Flink's own backends write. */
class CanonicalFormatTest {
    private static final int KEYS = 60;

    /** Where the prefix of a key becomes two bytes, and the most there can be. */
    @ParameterizedTest
    @ValueSource(ints = {128, 129, 32768})
    void keysOfFixedLength(int maxParallelism) throws Exception {
        assertSameEntries(
                maxParallelism,
                IntSerializer.INSTANCE,
                key -> key * 31,
                LongSerializer.INSTANCE,
                key -> (long) key);
    }

    /** Key and namespace of variable length need their lengths behind them. */
    @ParameterizedTest
    @ValueSource(ints = {128, 129, 32768})
    void keysOfVariableLength(int maxParallelism) throws Exception {
        assertSameEntries(
                maxParallelism,
                StringSerializer.INSTANCE,
                "k"::repeat,
                StringSerializer.INSTANCE,
                key -> "n".repeat(key * 7));
    }

    private static <K, N> void assertSameEntries(
            int maxParallelism,
            TypeSerializer<K> keys,
            IntFunction<K> key,
            TypeSerializer<N> namespaces,
            IntFunction<N> namespace)
            throws Exception {
        Set<String> ours = null;
        for (StateBackend type :
                List.of(
                        new AfterbayStateBackend(),
                        new HashMapStateBackend(),
                        new EmbeddedRocksDBStateBackend())) {
            try (Backends backends = new Backends(type, maxParallelism)) {
                AbstractKeyedStateBackend<K> backend = backends.openAny(keys);
                fill(backend, key, namespaces, namespace);
                KeyedStateHandle handle = Backends.canonicalSavepoint(backend);
                Set<String> entries = entries(handle, keys, maxParallelism);
                if (ours == null) {
                    ours = entries;
                    // one value, one list, two entries of a map, one timer
                    assertThat(ours).hasSize(5 * KEYS);
                }
                assertThat(ours).as("%s", type).isEqualTo(entries);
            }
        }
    }

    private static <K, N> void fill(
            AbstractKeyedStateBackend<K> backend,
            IntFunction<K> key,
            TypeSerializer<N> namespaces,
            IntFunction<N> namespace)
            throws Exception {
        var timers =
                backend.create(
                        "timers", new TimerSerializer<>(backend.getKeySerializer(), namespaces));
        for (int i = 0; i < KEYS; i++) {
            backend.setCurrentKey(key.apply(i));
            ValueState<String> value =
                    backend.getPartitionedState(
                            namespace.apply(i),
                            namespaces,
                            new ValueStateDescriptor<>("value", StringSerializer.INSTANCE));
            value.update("v".repeat(i));
            ListState<Long> list =
                    backend.getPartitionedState(
                            namespace.apply(i),
                            namespaces,
                            new ListStateDescriptor<>("list", LongSerializer.INSTANCE));
            list.update(List.of(1L, (long) i, -1L));
            MapState<String, Integer> map =
                    backend.getPartitionedState(
                            namespace.apply(i),
                            namespaces,
                            new MapStateDescriptor<>(
                                    "map", StringSerializer.INSTANCE, IntSerializer.INSTANCE));
            map.put("a", i);
            map.put("b".repeat(i + 1), -i);
            timers.add(
                    new TimerHeapInternalTimer<>(
                            i % 2 == 0 ? i : -i, key.apply(i), namespace.apply(i)));
        }
    }

    private static <K> Set<String> entries(
            KeyedStateHandle handle, TypeSerializer<K> keys, int maxParallelism) throws Exception {
        Set<String> entries = new TreeSet<>();
        HexFormat hex = HexFormat.of();
        try (ThrowingIterator<SavepointRestoreResult> results =
                new FullSnapshotRestoreOperation<>(
                                KeyGroupRange.of(0, maxParallelism - 1),
                                CanonicalFormatTest.class.getClassLoader(),
                                List.of(handle),
                                StateSerializerProvider.fromNewRegisteredSerializer(keys))
                        .restore()) {
            SavepointRestoreResult result = results.next();
            List<StateMetaInfoSnapshot> states = result.getStateMetaInfoSnapshots();
            ThrowingIterator<KeyGroup> groups = result.getRestoredKeyGroups();
            while (groups.hasNext()) {
                KeyGroup group = groups.next();
                ThrowingIterator<KeyGroupEntry> each = group.getKeyGroupEntries();
                while (each.hasNext()) {
                    KeyGroupEntry entry = each.next();
                    boolean isNew =
                            entries.add(
                                    group.getKeyGroupId()
                                            + " "
                                            + states.get(entry.getKvStateId()).getName()
                                            + " "
                                            + hex.formatHex(entry.getKey())
                                            + " "
                                            + hex.formatHex(entry.getValue()));
                    assertThat(isNew).isTrue();
                }
            }
        }
        return entries;
    }
}
