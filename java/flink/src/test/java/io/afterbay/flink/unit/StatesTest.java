package io.afterbay.flink.unit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.flink.AfterbayKeyedStateBackend;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.internal.InternalListState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Promises to user functions that Flink's own suites do not test. */
class StatesTest {
    /** A list that is read at once, and one that is read lazily (64 KiB are the bound). */
    private static final int SHORT = 100;

    private static final int LONG = 20_000;

    private final Backends backends = new Backends();
    private AfterbayKeyedStateBackend<Integer> backend;

    @BeforeEach
    void open() throws Exception {
        backend = backends.open(IntSerializer.INSTANCE);
        backend.setCurrentKey(1);
    }

    @AfterEach
    void close() throws Exception {
        backends.close();
    }

    private <S extends State> S state(StateDescriptor<S, ?> descriptor) throws Exception {
        return backend.getPartitionedState(
                VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, descriptor);
    }

    private ListState<Long> list(int size) throws Exception {
        ListState<Long> list = state(new ListStateDescriptor<>("list", LongSerializer.INSTANCE));
        list.update(numbers(size));
        return list;
    }

    private MapState<Integer, String> map() throws Exception {
        return state(
                new MapStateDescriptor<>("map", IntSerializer.INSTANCE, StringSerializer.INSTANCE));
    }

    private static List<Long> numbers(int size) {
        return LongStream.range(0, size).boxed().toList();
    }

    @ParameterizedTest
    @ValueSource(ints = {SHORT, LONG})
    void listsStayValidThroughChanges(int size) throws Exception {
        ListState<Long> list = list(size);
        Iterable<Long> read = list.get();
        Iterator<Long> begun = read.iterator();
        begun.next();
        list.clear();
        list.add(-1L);
        assertThat(read).containsExactlyElementsOf(numbers(size));
        list.update(List.of(-2L));
        assertThat(read).containsExactlyElementsOf(numbers(size));
        assertThat((Iterable<Long>) () -> begun)
                .containsExactlyElementsOf(numbers(size).subList(1, size));
        assertThat(list.get()).containsExactly(-2L);
    }

    /** What an evicting window does: remove while iterating, clear, write back what is left. */
    @ParameterizedTest
    @ValueSource(ints = {SHORT, LONG})
    void listsRememberRemovals(int size) throws Exception {
        ListState<Long> list = list(size);
        Iterable<Long> read = list.get();
        for (Iterator<Long> i = read.iterator(); i.hasNext(); ) {
            if (i.next() % 3 != 0) {
                i.remove();
            }
        }
        List<Long> left = numbers(size).stream().filter(value -> value % 3 == 0).toList();
        assertThat(read).containsExactlyElementsOf(left);
        list.clear();
        for (Long value : read) {
            list.add(value);
        }
        assertThat(list.get()).containsExactlyElementsOf(left);
    }

    @Test
    void removalComesAfterNextOnce() throws Exception {
        Iterator<Long> iterator = list(LONG).get().iterator();
        assertThatThrownBy(iterator::remove).isInstanceOf(IllegalStateException.class);
        iterator.next();
        iterator.remove();
        assertThatThrownBy(iterator::remove).isInstanceOf(IllegalStateException.class);
    }

    @ParameterizedTest
    @ValueSource(ints = {SHORT, LONG})
    void listsOutliveTheKey(int size) throws Exception {
        Iterable<Long> read = list(size).get();
        backend.setCurrentKey(2);
        assertThat(read).containsExactlyElementsOf(numbers(size));
    }

    @Test
    @SuppressWarnings("unchecked")
    void mergesLists() throws Exception {
        InternalListState<Integer, Integer, Long> list =
                (InternalListState<Integer, Integer, Long>)
                        backend.<Integer, ListState<Long>, List<Long>>getOrCreateKeyedState(
                                IntSerializer.INSTANCE,
                                new ListStateDescriptor<>("merging", LongSerializer.INSTANCE));
        for (int namespace = 0; namespace < 4; namespace++) {
            list.setCurrentNamespace(namespace);
            list.add((long) namespace);
        }
        list.mergeNamespaces(0, List.of(1, 0, 3, 17));
        list.setCurrentNamespace(0);
        assertThat(list.get()).containsExactly(0L, 1L, 3L);
        list.setCurrentNamespace(1);
        assertThat(list.get()).isNull();
        list.setCurrentNamespace(2);
        assertThat(list.get()).containsExactly(2L);
    }

    @Test
    void mapsMayChangeWhileIterating() throws Exception {
        MapState<Integer, String> map = map();
        Map<Integer, String> expected = new HashMap<>();
        for (int i = 0; i < 1000; i++) {
            map.put(i, i % 7 == 0 ? null : "v" + i);
            expected.put(i, i % 7 == 0 ? null : "v" + i);
        }
        Map<Integer, String> seen = new HashMap<>();
        for (Iterator<Map.Entry<Integer, String>> i = map.iterator(); i.hasNext(); ) {
            Map.Entry<Integer, String> entry = i.next();
            assertThat(seen).doesNotContainKey(entry.getKey());
            seen.put(entry.getKey(), entry.getValue());
            switch (entry.getKey() % 4) {
                case 0 -> {
                    i.remove();
                    expected.remove(entry.getKey());
                }
                case 1 -> {
                    assertThat(entry.setValue("new")).isEqualTo(seen.get(entry.getKey()));
                    assertThat(entry.getValue()).isEqualTo("new");
                    expected.put(entry.getKey(), "new");
                }
                case 2 -> {
                    int behind = entry.getKey() - 2; // was removed, or never there
                    map.put(behind, "again");
                    expected.put(behind, "again");
                }
                default -> {}
            }
        }
        assertThat(seen.keySet()).hasSize(1000);
        Map<Integer, String> left = new HashMap<>();
        map.entries().forEach(entry -> left.put(entry.getKey(), entry.getValue()));
        assertThat(left).isEqualTo(expected);
    }

    @Test
    void numbersAsUserKeysComeInOrder() throws Exception {
        MapState<Integer, String> map = map();
        for (int i = 0; i < 300; i++) {
            map.put(i * 31 % 300, "");
        }
        List<Integer> keys = new ArrayList<>();
        map.keys().forEach(keys::add);
        assertThat(keys).isSorted().hasSize(300);
    }

    @Test
    void valuesCanBeRemovedThroughTheirIterator() throws Exception {
        MapState<Integer, String> map = map();
        map.put(1, "a");
        map.put(2, "b");
        for (Iterator<String> i = map.values().iterator(); i.hasNext(); ) {
            if (i.next().equals("a")) {
                i.remove();
            }
        }
        for (Iterator<Integer> i = map.keys().iterator(); i.hasNext(); ) {
            i.next();
            i.remove();
        }
        assertThat(map.isEmpty()).isTrue();
    }

    @Test
    void mapIteratorsStayWithTheirKey() throws Exception {
        MapState<Integer, String> map = map();
        map.put(1, "a");
        Iterator<Map.Entry<Integer, String>> iterator = map.iterator();
        backend.setCurrentKey(2);
        map.put(2, "b");
        assertThat(iterator.next().getValue()).isEqualTo("a");
        iterator.remove();
        assertThat(iterator).isExhausted();
        assertThat(map.get(2)).isEqualTo("b");
        backend.setCurrentKey(1);
        assertThat(map.isEmpty()).isTrue();
    }

    @Test
    void keysOfSeveralStatesComeOnce() throws Exception {
        ValueStateDescriptor<String> value =
                new ValueStateDescriptor<>("value", StringSerializer.INSTANCE);
        for (int key = 0; key < 30; key++) {
            backend.setCurrentKey(key);
            if (key % 2 == 0) {
                state(value).update("v");
            }
            if (key % 3 == 0) {
                list(1);
            }
            if (key % 5 == 0) {
                map().put(key, "m");
                map().put(key + 1, "m");
            }
        }
        assertThat(
                        backend.getKeys(
                                        List.of("value", "unknown", "list", "map"),
                                        VoidNamespace.INSTANCE)
                                .toList())
                .containsExactlyInAnyOrderElementsOf(
                        java.util.stream.IntStream.range(0, 30)
                                .filter(key -> key % 2 == 0 || key % 3 == 0 || key % 5 == 0)
                                .boxed()
                                .toList());
    }

    @Test
    void keyIsMissedWithItsName() throws Exception {
        AfterbayKeyedStateBackend<Integer> fresh = backends.open(IntSerializer.INSTANCE);
        var value =
                fresh.getPartitionedState(
                        VoidNamespace.INSTANCE,
                        VoidNamespaceSerializer.INSTANCE,
                        new ValueStateDescriptor<>("value", StringSerializer.INSTANCE));
        assertThatThrownBy(value::value).hasMessageContaining("No key set");
    }
}
