package io.afterbay.flink.incremental;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.flink.AfterbayKeyedStateBackend;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
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
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;

/** What keyed states should have, in plain collections, and random changes of both. */
final class KeyedContent {
    static final int KEYS = 120;

    private static final ValueStateDescriptor<String> VALUE =
            new ValueStateDescriptor<>("value", StringSerializer.INSTANCE);
    private static final ListStateDescriptor<Long> LIST =
            new ListStateDescriptor<>("list", LongSerializer.INSTANCE);
    private static final MapStateDescriptor<Integer, String> MAP =
            new MapStateDescriptor<>("map", IntSerializer.INSTANCE, StringSerializer.INSTANCE);

    private final Map<Integer, String> values = new HashMap<>();
    private final Map<Integer, List<Long>> lists = new HashMap<>();
    private final Map<Integer, Map<Integer, String>> maps = new HashMap<>();
    private final Map<Integer, TreeSet<Long>> timers = new HashMap<>();

    /** A backend and the queue that was got from it. */
    record Handle(
            AfterbayKeyedStateBackend<Integer> backend,
            KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>>
                    timers) {
        static Handle of(AfterbayKeyedStateBackend<Integer> backend) {
            return new Handle(
                    backend,
                    backend.create(
                            "timers",
                            new TimerSerializer<>(
                                    IntSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE)));
        }

        private <S extends State> S state(StateDescriptor<S, ?> descriptor) throws Exception {
            return backend.getPartitionedState(
                    VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, descriptor);
        }
    }

    KeyedContent copy() {
        KeyedContent copy = new KeyedContent();
        copy.values.putAll(values);
        lists.forEach((key, list) -> copy.lists.put(key, new ArrayList<>(list)));
        maps.forEach((key, map) -> copy.maps.put(key, new HashMap<>(map)));
        timers.forEach((key, times) -> copy.timers.put(key, new TreeSet<>(times)));
        return copy;
    }

    /**
     * Changes some entries of those backends that have the keys.
     *
     * @param valueLength the most characters of a value
     */
    void change(Random random, List<Handle> backends, int changes, int valueLength)
            throws Exception {
        for (int i = 0; i < changes; i++) {
            int key = random.nextInt(KEYS);
            Handle backend = owner(key, backends);
            backend.backend.setCurrentKey(key);
            String text = "x".repeat(random.nextInt(valueLength + 1)) + i;
            switch (random.nextInt(8)) {
                case 0, 1 -> {
                    values.put(key, text);
                    backend.state(VALUE).update(text);
                }
                case 2 -> {
                    values.remove(key);
                    backend.state(VALUE).clear();
                }
                case 3, 4 -> changeList(random, backend.state(LIST), key);
                case 5 -> changeMap(random, backend.state(MAP), key, text);
                default -> changeTimers(random, backend, key);
            }
        }
    }

    private static Handle owner(int key, List<Handle> backends) {
        for (Handle backend : backends) {
            int total = backend.backend.getNumberOfKeyGroups();
            int keyGroup = KeyGroupRangeAssignment.assignToKeyGroup(key, total);
            if (backend.backend.getKeyGroupRange().contains(keyGroup)) {
                return backend;
            }
        }
        throw new AssertionError("nobody has key " + key);
    }

    private void changeList(Random random, ListState<Long> list, int key) throws Exception {
        if (random.nextInt(20) == 0) {
            lists.remove(key);
            list.clear();
        } else {
            long element = random.nextLong();
            lists.computeIfAbsent(key, none -> new ArrayList<>()).add(element);
            list.add(element);
        }
    }

    private void changeMap(Random random, MapState<Integer, String> map, int key, String text)
            throws Exception {
        int userKey = random.nextInt(10);
        if (random.nextInt(3) == 0) {
            if (maps.containsKey(key)) {
                maps.get(key).remove(userKey);
            }
            map.remove(userKey);
        } else {
            maps.computeIfAbsent(key, none -> new HashMap<>()).put(userKey, text);
            map.put(userKey, text);
        }
    }

    private void changeTimers(Random random, Handle backend, int key) {
        long time = random.nextInt(50);
        TimerHeapInternalTimer<Integer, VoidNamespace> timer =
                new TimerHeapInternalTimer<>(time, key, VoidNamespace.INSTANCE);
        TreeSet<Long> times = timers.computeIfAbsent(key, none -> new TreeSet<>());
        if (times.remove(time)) {
            backend.timers.remove(timer);
        } else {
            times.add(time);
            backend.timers.add(timer);
        }
    }

    void assertIsIn(List<Handle> backends) throws Exception {
        for (int key = 0; key < KEYS; key++) {
            Handle backend = owner(key, backends);
            backend.backend.setCurrentKey(key);
            assertThat(backend.state(VALUE).value()).isEqualTo(values.get(key));
            assertThat(list(backend.state(LIST))).isEqualTo(lists.getOrDefault(key, List.of()));
            assertThat(map(backend.state(MAP))).isEqualTo(maps.getOrDefault(key, Map.of()));
        }
        assertThat(timers(backends)).isEqualTo(timersByKey());
    }

    private static List<Long> list(ListState<Long> state) throws Exception {
        List<Long> list = new ArrayList<>();
        Iterable<Long> elements = state.get();
        if (elements != null) {
            elements.forEach(list::add);
        }
        return list;
    }

    private static Map<Integer, String> map(MapState<Integer, String> state) throws Exception {
        Map<Integer, String> map = new HashMap<>();
        for (Map.Entry<Integer, String> entry : state.entries()) {
            map.put(entry.getKey(), entry.getValue());
        }
        return map;
    }

    private static Map<Integer, TreeSet<Long>> timers(List<Handle> backends) {
        Map<Integer, TreeSet<Long>> found = new HashMap<>();
        for (Handle backend : backends) {
            KeyGroupRange range = backend.backend.getKeyGroupRange();
            for (int keyGroup : range) {
                backend.timers
                        .getSubsetForKeyGroup(keyGroup)
                        .forEach(
                                timer ->
                                        found.computeIfAbsent(
                                                        timer.getKey(), none -> new TreeSet<>())
                                                .add(timer.getTimestamp()));
            }
        }
        return found;
    }

    private Map<Integer, TreeSet<Long>> timersByKey() {
        Map<Integer, TreeSet<Long>> wanted = new HashMap<>(timers);
        wanted.values().removeIf(TreeSet::isEmpty);
        return wanted;
    }
}
