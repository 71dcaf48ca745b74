package io.afterbay.flink.correctness;

import static io.afterbay.flink.correctness.Backends.windowed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import io.afterbay.flink.AfterbayStateBackend;
import io.afterbay.store.StateStores;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.internal.InternalListState;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Required of every state, and left out by an API that removes what it reads. */
class StateSemanticsTest {
    private static final TimeWindow FIRST = new TimeWindow(0, 10);
    private static final TimeWindow SECOND = new TimeWindow(10, 20);

    private final Backends backends = new Backends();
    private AbstractKeyedStateBackend<String> keyed;

    @BeforeEach
    void open() throws Exception {
        keyed = backends.ours();
    }

    /** Fails if managed memory has not come back. */
    @AfterEach
    void close() throws Exception {
        backends.close();
    }

    private InternalListState<String, TimeWindow, Long> windowList() throws Exception {
        return windowed(keyed, new ListStateDescriptor<>("window-contents", Long.class));
    }

    private MapState<String, Long> map() throws Exception {
        return keyed.getPartitionedState(
                VoidNamespace.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                new MapStateDescriptor<>("map", String.class, Long.class));
    }

    /** Early and count triggers, evictors and allowed lateness. */
    @Nested
    class ReadsDoNotRemove {
        @Test
        void aWindowIsReadManyTimes() throws Exception {
            InternalListState<String, TimeWindow, Long> list = windowList();
            keyed.setCurrentKey("a");
            list.setCurrentNamespace(FIRST);
            list.add(1L);
            list.add(2L);
            assertThat(list.get()).containsExactly(1L, 2L);
            assertThat(list.get()).containsExactly(1L, 2L);
            keyed.setCurrentKey("b");
            keyed.setCurrentKey("a");
            assertThat(list.get()).containsExactly(1L, 2L);
        }

        @Test
        void appendsFollowAReadOfAllKeysOfTheWindow() throws Exception {
            InternalListState<String, TimeWindow, Long> list = windowList();
            for (int key = 0; key < 500; key++) {
                add(list, key, FIRST, key);
            }
            for (int key = 0; key < 500; key++) {
                assertThat(read(list, key, FIRST)).containsExactly((long) key);
            }
            for (int key = 0; key < 500; key++) {
                add(list, key, FIRST, -key);
            }
            for (int key = 0; key < 500; key++) {
                assertThat(read(list, key, FIRST)).containsExactly((long) key, (long) -key);
            }
        }

        @Test
        void clearNeedsNoRead() throws Exception {
            InternalListState<String, TimeWindow, Long> list = windowList();
            for (int key = 0; key < 500; key++) {
                add(list, key, FIRST, key);
                add(list, key, SECOND, key);
            }
            for (int key = 0; key < 500; key += 2) {
                keyed.setCurrentKey("k" + key);
                list.setCurrentNamespace(FIRST);
                list.clear();
            }
            for (int key = 0; key < 500; key++) {
                assertThat(read(list, key, FIRST)).hasSize(key % 2);
                assertThat(read(list, key, SECOND)).containsExactly((long) key);
            }
            add(list, 0, FIRST, 7);
            assertThat(read(list, 0, FIRST)).containsExactly(7L);
        }

        private void add(
                InternalListState<String, TimeWindow, Long> list,
                int key,
                TimeWindow window,
                long value)
                throws Exception {
            keyed.setCurrentKey("k" + key);
            list.setCurrentNamespace(window);
            list.add(value);
        }

        private List<Long> read(
                InternalListState<String, TimeWindow, Long> list, int key, TimeWindow window)
                throws Exception {
            keyed.setCurrentKey("k" + key);
            list.setCurrentNamespace(window);
            List<Long> all = new ArrayList<>();
            Iterable<Long> content = list.get();
            if (content != null) {
                content.forEach(all::add);
            }
            return all;
        }
    }

    /** Sessions merge: what was written under one window is read under another. */
    @Nested
    class Merging {
        @Test
        void mergedListsAreReadUnderTheTarget() throws Exception {
            InternalListState<String, TimeWindow, Long> list = windowList();
            keyed.setCurrentKey("a");
            for (long i = 0; i < 10; i++) {
                list.setCurrentNamespace(new TimeWindow(i, i + 1));
                list.add(i);
                list.add(-i);
            }
            List<TimeWindow> sources = new ArrayList<>();
            for (long i = 1; i < 10; i++) {
                sources.add(new TimeWindow(i, i + 1));
            }
            list.mergeNamespaces(new TimeWindow(0, 1), sources);
            list.setCurrentNamespace(new TimeWindow(0, 1));
            list.add(100L);
            assertThat(list.get())
                    .containsExactlyInAnyOrder(
                            0L, 0L, 1L, -1L, 2L, -2L, 3L, -3L, 4L, -4L, 5L, -5L, 6L, -6L, 7L, -7L,
                            8L, -8L, 9L, -9L, 100L);
            list.setCurrentNamespace(new TimeWindow(5, 6));
            assertThat(list.get()).isNullOrEmpty();
            list.add(1L);
            assertThat(list.get()).containsExactly(1L);
        }
    }

    /** What {@code get} returns is lazy, can be read again, and outlives changes. */
    @Nested
    class ReturnedIterables {
        private final List<Long> content = new ArrayList<>();
        private ListState<Long> list;
        private Iterable<Long> before;

        @BeforeEach
        void fill() throws Exception {
            list =
                    keyed.getPartitionedState(
                            VoidNamespace.INSTANCE,
                            VoidNamespaceSerializer.INSTANCE,
                            new ListStateDescriptor<>("list", Long.class));
            keyed.setCurrentKey("a");
            for (long i = 0; i < 2000; i++) {
                list.add(i);
                content.add(i);
            }
            before = list.get();
        }

        @Test
        void areReadAgain() {
            assertThat(before).containsExactlyElementsOf(content);
            assertThat(before).containsExactlyElementsOf(content);
        }

        @Test
        void stayThroughClear() throws Exception {
            list.clear();
            assertThat(before).containsExactlyElementsOf(content);
            assertThat(list.get()).isNullOrEmpty();
        }

        @Test
        void stayThroughAdd() throws Exception {
            Iterator<Long> half = before.iterator();
            for (int i = 0; i < 1000; i++) {
                half.next();
            }
            list.add(-1L);
            List<Long> rest = new ArrayList<>();
            half.forEachRemaining(rest::add);
            assertThat(rest).isEqualTo(content.subList(1000, 2000));
            assertThat(before).containsExactlyElementsOf(content);
            content.add(-1L);
            assertThat(list.get()).containsExactlyElementsOf(content);
        }

        @Test
        void stayThroughUpdate() throws Exception {
            list.update(List.of(5L));
            assertThat(before).containsExactlyElementsOf(content);
            assertThat(list.get()).containsExactly(5L);
        }

        /** As evictors do: what is left of the old content becomes the new one. */
        @Test
        void feedTheUpdateThatReplacesThem() throws Exception {
            List<Long> kept = new ArrayList<>();
            for (Long element : before) {
                if (element % 3 == 0) {
                    kept.add(element);
                }
            }
            list.clear();
            for (Long element : before) {
                if (element % 3 == 0) {
                    list.add(element);
                }
            }
            assertThat(list.get()).containsExactlyElementsOf(kept);
        }
    }

    /** Iteration of MapState while it changes. */
    @Nested
    class MapIteration {
        @Test
        void removesThroughTheIterator() throws Exception {
            MapState<String, Long> map = filled(100);
            Iterator<Map.Entry<String, Long>> entries = map.iterator();
            while (entries.hasNext()) {
                if (entries.next().getValue() % 2 == 0) {
                    entries.remove();
                }
            }
            assertThat(content(map)).hasSize(50).allSatisfy((k, v) -> assertThat(v % 2).isOne());
        }

        @Test
        void setsValuesThroughEntries() throws Exception {
            MapState<String, Long> map = filled(100);
            for (Map.Entry<String, Long> entry : map.entries()) {
                long before = entry.getValue();
                assertThat(entry.setValue(before + 1000)).isEqualTo(before);
                assertThat(entry.getValue()).isEqualTo(before + 1000);
            }
            assertThat(content(map)).hasSize(100).containsEntry("user7", 1007L);
        }

        @Test
        void changesOfOtherEntriesDoNotDisturb() throws Exception {
            MapState<String, Long> map = filled(100);
            Map<String, Integer> seen = new HashMap<>();
            for (Map.Entry<String, Long> entry : map.entries()) {
                seen.merge(entry.getKey(), 1, Integer::sum);
                map.remove("user" + (entry.getValue() + 50));
                map.put("user" + entry.getValue(), entry.getValue());
            }
            assertThat(seen).allSatisfy((key, times) -> assertThat(times).isOne());
            for (int i = 0; i < 50; i++) {
                assertThat(seen).containsKey("user" + i);
            }
        }

        /**
         * As PyFlink's runner does: it fetches large maps in batches, sets the key at every
         * request, and works under other keys between batches.
         */
        @Test
        void goesOnUnderItsKeyWhileTheCurrentKeyChanges() throws Exception {
            int entries = 20_000;
            MapState<String, Long> map = map();
            List<String> keys = List.of("a", "b", "c");
            List<Iterator<Map.Entry<String, Long>>> iterators = new ArrayList<>();
            for (String key : keys) {
                keyed.setCurrentKey(key);
                for (long i = 0; i < entries; i++) {
                    map.put("user-" + key + i, i);
                }
                iterators.add(map.iterator());
            }
            for (int i = 0; i < entries; i++) {
                for (int k = 0; k < keys.size(); k++) {
                    keyed.setCurrentKey(keys.get((k + i) % keys.size()));
                    map.put("new" + i, -1L);
                    Map.Entry<String, Long> entry = nextOld(iterators.get(k));
                    assertThat(entry.getKey()).isEqualTo("user-" + keys.get(k) + entry.getValue());
                    if (entry.getValue() % 2 == 0) {
                        iterators.get(k).remove();
                    } else {
                        entry.setValue(entry.getValue() + entries);
                    }
                }
            }
            for (String key : keys) {
                keyed.setCurrentKey(key);
                for (long i = 0; i < entries; i++) {
                    assertThat(map.get("user-" + key + i))
                            .isEqualTo(i % 2 == 0 ? null : i + entries);
                }
            }
        }

        /** Those that were put meanwhile may be seen or not. */
        private static Map.Entry<String, Long> nextOld(Iterator<Map.Entry<String, Long>> iterator) {
            Map.Entry<String, Long> entry = iterator.next();
            while (entry.getKey().startsWith("new")) {
                entry = iterator.next();
            }
            return entry;
        }

        @Test
        void endsWithTheBackend() throws Exception {
            MapState<String, Long> map = filled(5000);
            Iterator<Map.Entry<String, Long>> entries = map.iterator();
            entries.next();
            backends.dispose(keyed);
            assertThatThrownBy(entries::next).isInstanceOf(IllegalStateException.class);
        }

        @Test
        void nullValuesArePresent() throws Exception {
            MapState<String, Long> map = filled(1);
            map.put("nothing", null);
            assertThat(map.contains("nothing")).isTrue();
            assertThat(map.get("nothing")).isNull();
            assertThat(content(map)).containsOnly(entry("user0", 0L), entry("nothing", null));
            map.remove("nothing");
            assertThat(map.contains("nothing")).isFalse();
        }

        @Test
        void nullValuesSurviveACheckpoint() throws Exception {
            filled(1).put("nothing", null);
            KeyedStateHandle handle = Backends.checkpoint(keyed);
            keyed = backends.ours(handle);
            keyed.setCurrentKey("a");
            assertThat(content(map())).containsOnly(entry("user0", 0L), entry("nothing", null));
        }

        @Test
        void emptiedByRemovalIsEmpty() throws Exception {
            MapState<String, Long> map = filled(10);
            Iterator<String> keys = map.keys().iterator();
            while (keys.hasNext()) {
                keys.next();
                keys.remove();
            }
            assertThat(map.isEmpty()).isTrue();
            assertThat(keyed.numKeyValueStateEntries()).isZero();
        }

        private MapState<String, Long> filled(int entries) throws Exception {
            MapState<String, Long> map = map();
            keyed.setCurrentKey("b");
            map.put("other", 1L);
            map.clear();
            keyed.setCurrentKey("a");
            for (long i = 0; i < entries; i++) {
                map.put("user" + i, i);
            }
            return map;
        }

        private Map<String, Long> content(MapState<String, Long> map) throws Exception {
            Map<String, Long> all = new HashMap<>();
            map.entries().forEach(e -> all.put(e.getKey(), e.getValue()));
            return all;
        }
    }

    /** Expired entries that nobody reads again. */
    @Nested
    class Expiry {
        private static final int KEYS = 200;

        @Test
        void leavesTheStore() throws Exception {
            ValueState<Long> value = fill(config().cleanupIncrementally(10, true).build());
            backends.now = 1000;
            for (int i = 0; i < KEYS; i++) {
                keyed.setCurrentKey("other" + i);
                value.value();
            }
            assertThat(keyed.numKeyValueStateEntries()).isZero();
        }

        @Test
        void leavesCheckpoints() throws Exception {
            fill(config().cleanupFullSnapshot().build());
            backends.now = 1000;
            KeyedStateHandle handle = Backends.checkpoint(keyed);
            KeyedStateHandle canonical = Backends.canonicalSavepoint(keyed);
            // The clock goes back: what is in the checkpoint would be seen.
            backends.now = 0;
            for (KeyedStateHandle each : List.of(handle, canonical)) {
                keyed = backends.ours(each);
                ValueState<Long> value = value(config().cleanupFullSnapshot().build());
                keyed.setCurrentKey("key0");
                assertThat(value.value()).isNull();
                assertThat(keyed.numKeyValueStateEntries()).isZero();
            }
        }

        private StateTtlConfig.Builder config() {
            return StateTtlConfig.newBuilder(Duration.ofMillis(100));
        }

        private ValueState<Long> fill(StateTtlConfig ttl) throws Exception {
            ValueState<Long> value = value(ttl);
            for (int i = 0; i < KEYS; i++) {
                keyed.setCurrentKey("key" + i);
                value.update((long) i);
            }
            assertThat(keyed.numKeyValueStateEntries()).isEqualTo(KEYS);
            return value;
        }

        private ValueState<Long> value(StateTtlConfig ttl) throws Exception {
            ValueStateDescriptor<Long> descriptor = new ValueStateDescriptor<>("ttl", Long.class);
            descriptor.enableTimeToLive(ttl);
            return keyed.getPartitionedState(
                    VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, descriptor);
        }
    }

    /**
     * A list of more than 2 GB. Here its reader only says so; {@link LongListTest} has a real one.
     */
    @Nested
    class ListsBeyondTwoGigabytes {
        private static final int OTHER_VALUE_CHARS = 20_000;

        @BeforeEach
        void claimToBeLong() throws Exception {
            keyed =
                    backends.create(
                            new AfterbayStateBackend()
                                    .withStores(o -> LongLists.around(StateStores.open(o))),
                            128,
                            List.of());
            ValueState<String> other =
                    keyed.getPartitionedState(
                            VoidNamespace.INSTANCE,
                            VoidNamespaceSerializer.INSTANCE,
                            new ValueStateDescriptor<>("another", String.class));
            InternalListState<String, TimeWindow, Long> list = windowList();
            for (int i = 0; i < 100; i++) {
                keyed.setCurrentKey("other" + i);
                other.update("x".repeat(OTHER_VALUE_CHARS));
            }
            keyed.setCurrentKey("a");
            list.setCurrentNamespace(FIRST);
            list.add(1L);
        }

        @Test
        void failACanonicalSavepointBeforeItIsWritten() {
            CountingStreams streams = new CountingStreams();
            assertThatThrownBy(() -> streams.canonicalSavepoint(keyed))
                    .rootCause()
                    .hasMessageContaining("state 'window-contents', key group ")
                    .hasMessageContaining("native savepoint");
            // Flink writes the meta data before it asks for the first entry.
            assertThat(streams.bytes()).isLessThan(OTHER_VALUE_CHARS / 10);
        }

        @Test
        void fitACheckpoint() throws Exception {
            keyed = backends.ours(Backends.checkpoint(keyed));
            InternalListState<String, TimeWindow, Long> list = windowList();
            keyed.setCurrentKey("a");
            list.setCurrentNamespace(FIRST);
            assertThat(list.get()).containsExactly(1L);
        }
    }
}
