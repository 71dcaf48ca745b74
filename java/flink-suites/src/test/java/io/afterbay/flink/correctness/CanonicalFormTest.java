package io.afterbay.flink.correctness;

import static io.afterbay.flink.correctness.Backends.windowed;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.flink.contract.BackendUnderTest;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.runtime.state.internal.InternalListState;
import org.apache.flink.runtime.state.internal.InternalMapState;
import org.apache.flink.runtime.state.internal.InternalReducingState;
import org.apache.flink.runtime.state.internal.InternalValueState;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Canonical savepoints between our backend and Flink's, with every shape of state and timers, at
 * maximum parallelisms on both sides of where the width of the key group changes.
 */
class CanonicalFormTest {
    private static final int KEYS = 60;

    private final Backends backends = new Backends();

    @AfterEach
    void close() throws Exception {
        backends.close();
    }

    enum Type {
        OURS,
        HASH_MAP,
        ROCKSDB;

        StateBackend create() {
            return switch (this) {
                case OURS -> BackendUnderTest.create();
                case HASH_MAP -> new HashMapStateBackend();
                case ROCKSDB -> new EmbeddedRocksDBStateBackend();
            };
        }
    }

    @ParameterizedTest
    @CsvSource({
        "OURS, HASH_MAP, 128", "OURS, HASH_MAP, 129", "OURS, HASH_MAP, 32768",
        "OURS, ROCKSDB, 128", "OURS, ROCKSDB, 129", "OURS, ROCKSDB, 32768",
        "HASH_MAP, OURS, 128", "HASH_MAP, OURS, 129", "HASH_MAP, OURS, 32768",
        "ROCKSDB, OURS, 128", "ROCKSDB, OURS, 129", "ROCKSDB, OURS, 32768",
        "OURS, OURS, 128", "OURS, OURS, 129", "OURS, OURS, 32768"
    })
    void goFromBackendToBackend(Type from, Type to, int maxParallelism) throws Exception {
        States before = new States(backends.create(from.create(), maxParallelism, List.of()));
        // HashMap's own savepoints fail on a null in a map of longs.
        before.fill(from == Type.HASH_MAP ? Long.valueOf(-1) : null);
        TreeMap<String, String> content = before.content();
        KeyedStateHandle savepoint = Backends.canonicalSavepoint(before.keyed);
        backends.dispose(before.keyed);
        States after = new States(backends.create(to.create(), maxParallelism, List.of(savepoint)));
        assertThat(after.content()).isEqualTo(content).hasSize(KEYS * 8);
    }

    private static final class States {
        final AbstractKeyedStateBackend<String> keyed;
        final InternalValueState<String, TimeWindow, String> value;
        final InternalListState<String, TimeWindow, String> list;
        final InternalMapState<String, TimeWindow, String, Long> map;
        final InternalReducingState<String, TimeWindow, Long> sum;
        final KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<String, TimeWindow>> timers;

        States(AbstractKeyedStateBackend<String> keyed) throws Exception {
            this.keyed = keyed;
            value = windowed(keyed, new ValueStateDescriptor<>("value", String.class));
            list = windowed(keyed, new ListStateDescriptor<>("list", String.class));
            map = windowed(keyed, new MapStateDescriptor<>("map", String.class, Long.class));
            sum = windowed(keyed, new ReducingStateDescriptor<>("sum", Long::sum, Long.class));
            timers =
                    keyed.create(
                            "_timer_state/event_window-timers",
                            new TimerSerializer<>(
                                    keyed.getKeySerializer(), new TimeWindow.Serializer()));
        }

        private static TimeWindow window(int i) {
            return new TimeWindow(-i, 10L * i);
        }

        void fill(Long nullOrNot) throws Exception {
            for (int i = 0; i < KEYS; i++) {
                keyed.setCurrentKey("key".repeat(i % 7) + i);
                value.setCurrentNamespace(window(i));
                value.update("value" + i);
                list.setCurrentNamespace(window(i));
                list.addAll(List.of("", "a,b", "element" + i));
                map.setCurrentNamespace(window(i));
                map.put("null", nullOrNot);
                map.put("", 0L);
                map.put("entry" + i, (long) i);
                sum.setCurrentNamespace(window(i));
                sum.add(40L);
                sum.add((long) i);
                timers.add(new TimerHeapInternalTimer<>(i - 30L, keyed.getCurrentKey(), window(i)));
                timers.add(
                        new TimerHeapInternalTimer<>(
                                i % 2 == 0 ? Long.MAX_VALUE : Long.MIN_VALUE,
                                keyed.getCurrentKey(),
                                window(i)));
            }
        }

        /** Eight lines per key. */
        TreeMap<String, String> content() throws Exception {
            TreeMap<String, String> all = new TreeMap<>();
            for (int i = 0; i < KEYS; i++) {
                keyed.setCurrentKey("key".repeat(i % 7) + i);
                value.setCurrentNamespace(window(i));
                all.put(i + " value", value.value());
                list.setCurrentNamespace(window(i));
                all.put(i + " list", String.join("|", list.get()));
                map.setCurrentNamespace(window(i));
                for (String entry : List.of("null", "", "entry" + i)) {
                    all.put(i + " map " + entry, map.contains(entry) + " " + map.get(entry));
                }
                sum.setCurrentNamespace(window(i));
                all.put(i + " sum", String.valueOf(sum.get()));
            }
            long previous = Long.MIN_VALUE;
            TreeSet<String> seen = new TreeSet<>();
            while (!timers.isEmpty()) {
                TimerHeapInternalTimer<String, TimeWindow> timer = timers.poll();
                assertThat(timer.getTimestamp()).isGreaterThanOrEqualTo(previous);
                previous = timer.getTimestamp();
                assertThat(seen.add(timer.toString())).isTrue();
                all.put("timer " + timer, "");
            }
            seen.clear();
            restoreTimers(all);
            return all;
        }

        /** Polling was reading: the savepoint is taken after it. */
        private void restoreTimers(TreeMap<String, String> content) throws Exception {
            for (int i = 0; i < KEYS; i++) {
                String key = "key".repeat(i % 7) + i;
                keyed.setCurrentKey(key);
                timers.add(new TimerHeapInternalTimer<>(i - 30L, key, window(i)));
                timers.add(
                        new TimerHeapInternalTimer<>(
                                i % 2 == 0 ? Long.MAX_VALUE : Long.MIN_VALUE, key, window(i)));
            }
            assertThat(content.keySet().stream().filter(k -> k.startsWith("timer")).count())
                    .isEqualTo(2L * KEYS);
        }
    }
}
