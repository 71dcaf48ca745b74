package io.afterbay.flink.correctness;

import static io.afterbay.flink.correctness.Backends.windowed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.testing.Await;
import io.afterbay.testing.TestForm;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.LongStream;
import org.apache.flink.api.common.functions.ReduceFunction;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.internal.InternalListState;
import org.apache.flink.runtime.state.internal.InternalValueState;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Two threads at one backend, as PyFlink's process mode has them: one sets keys and uses states,
 * the other looks after timers. What is in use lies off the heap, where a race would end the
 * process.
 */
class TwoThreadsTest {
    private static final TimeWindow FIRST = new TimeWindow(0, 10);
    private static final TimeWindow SECOND = new TimeWindow(10, 20);

    private final Backends backends = new Backends();
    private AbstractKeyedStateBackend<String> keyed;

    @BeforeEach
    void open() throws Exception {
        keyed = backends.ours();
    }

    @AfterEach
    void close() throws Exception {
        backends.close();
    }

    private static KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<String, VoidNamespace>>
            timers(AbstractKeyedStateBackend<String> keyed, String name) {
        return keyed.create(
                name,
                new TimerSerializer<>(keyed.getKeySerializer(), VoidNamespaceSerializer.INSTANCE));
    }

    private static TimerHeapInternalTimer<String, VoidNamespace> timer(long time, String key) {
        return new TimerHeapInternalTimer<>(time, key, VoidNamespace.INSTANCE);
    }

    private static <V> MapState<Long, V> map(AbstractKeyedStateBackend<?> keyed, Class<V> values)
            throws Exception {
        return keyed.getPartitionedState(
                VoidNamespace.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                new MapStateDescriptor<>("map", Long.class, values));
    }

    private static CompletableFuture<Void> inThread(Step task) {
        return CompletableFuture.runAsync(
                () -> {
                    try {
                        task.run();
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                },
                run -> new Thread(run, "runner").start());
    }

    /** A call of the backend's. */
    private interface Step {
        void run() throws Exception;
    }

    @Test
    void oneUsesStatesWhileTheOtherPollsTimers() throws Exception {
        int count = TestForm.TWO_THREADS_CALLS;
        var queue = timers(keyed, "timers");
        MapState<Long, Long> map = map(keyed, Long.class);
        for (int i = 0; i < count; i++) {
            queue.add(timer(i * 7919L % count, "k" + i % 500));
        }
        CountDownLatch both = new CountDownLatch(2);
        CompletableFuture<Void> states =
                inThread(
                        () -> {
                            both.countDown();
                            both.await();
                            for (long i = 0; i < count; i++) {
                                keyed.setCurrentKey("k" + i % 500);
                                map.put(i, i);
                            }
                        });
        both.countDown();
        both.await();
        for (long time = 0; time < count; time++) {
            assertThat(queue.poll().getTimestamp()).isEqualTo(time);
        }
        assertThat(queue.poll()).isNull();
        states.join();
        for (long i = 0; i < count; i++) {
            keyed.setCurrentKey("k" + i % 500);
            assertThat(map.get(i)).isEqualTo(i);
        }
    }

    static LongStream seeds() {
        return LongStream.rangeClosed(1, TestForm.TWO_THREADS_SEEDS);
    }

    /**
     * Both use two backends of one slot, whose stores ask each other for memory at any time; each
     * time a key and an access to its state.
     */
    @ParameterizedTest
    @MethodSource("seeds")
    void bothUseStatesThatExceedTheirMemory(long seed) throws Exception {
        AbstractKeyedStateBackend<String> second = backends.ours();
        var queue = timers(keyed, "timers");
        Content[] runners = contents("r", seed, keyed, second);
        Content[] tasks = contents("t", seed, second, keyed);
        int count = TestForm.TWO_THREADS_CALLS;
        CompletableFuture<Void> runner =
                inThread(
                        () -> {
                            for (int i = 0; i < count; i++) {
                                changeAll(runners);
                            }
                        });
        long fired = -1;
        for (int i = 0; i < count; i++) {
            changeAll(tasks);
            queue.add(timer(i, "t" + i % 50));
            if (i % 3 == 0) {
                long time = queue.poll().getTimestamp();
                assertThat(time).isGreaterThan(fired);
                fired = time;
            }
        }
        runner.join();
        for (int i = 0; i < 2; i++) {
            runners[i].check();
            tasks[i].check();
        }
    }

    @SafeVarargs
    private static Content[] contents(
            String prefix, long seed, AbstractKeyedStateBackend<String>... backends)
            throws Exception {
        Content[] contents = new Content[backends.length];
        for (int i = 0; i < backends.length; i++) {
            contents[i] =
                    new Content(backends[i], prefix, new Random((prefix + seed + i).hashCode()));
        }
        return contents;
    }

    private static void changeAll(Content[] contents) throws Exception {
        for (Content content : contents) {
            synchronized (content.keyed) {
                content.change();
            }
        }
    }

    /** A map state of large values, and what it has to be. */
    private static final class Content {
        private final AbstractKeyedStateBackend<String> keyed;
        private final String prefix;
        private final Random random;
        private final MapState<Long, String> map;
        private final Map<String, Map<Long, Integer>> expected = new HashMap<>();

        Content(AbstractKeyedStateBackend<String> keyed, String prefix, Random random)
                throws Exception {
            this.keyed = keyed;
            this.prefix = prefix;
            this.random = random;
            this.map = map(keyed, String.class);
        }

        void change() throws Exception {
            String key = prefix + random.nextInt(50);
            keyed.setCurrentKey(key);
            Map<Long, Integer> entries = expected.computeIfAbsent(key, absent -> new HashMap<>());
            long at = random.nextInt(500);
            assertThat(map.get(at)).isEqualTo(value(entries.get(at)));
            if (random.nextInt(10) == 0) {
                map.remove(at);
                entries.remove(at);
            } else {
                int length = random.nextInt(2000);
                map.put(at, value(length));
                entries.put(at, length);
            }
        }

        private static String value(Integer length) {
            return length == null ? null : "x".repeat(length) + length;
        }

        void check() throws Exception {
            for (Map.Entry<String, Map<Long, Integer>> entries : expected.entrySet()) {
                keyed.setCurrentKey(entries.getKey());
                Map<Long, String> found = new HashMap<>();
                map.entries().forEach(entry -> found.put(entry.getKey(), entry.getValue()));
                assertThat(found).hasSize(entries.getValue().size());
                entries.getValue()
                        .forEach(
                                (at, length) -> assertThat(found).containsEntry(at, value(length)));
            }
        }
    }

    /** No call of another thread begins while one is in an access; here in a reduce function. */
    @Test
    void eachCallWaitsForTheEndOfAnAccess() throws Exception {
        Blocking reduce = new Blocking();
        ReducingState<Long> reducing =
                keyed.getPartitionedState(
                        VoidNamespace.INSTANCE,
                        VoidNamespaceSerializer.INSTANCE,
                        new ReducingStateDescriptor<>("reducing", reduce, Long.class));
        Map<String, Step> calls = calls(keyed);
        calls.put("reducing.get", reducing::get);
        calls.put("reducing.add", () -> reducing.add(1L));
        calls.put("reducing.clear", reducing::clear);
        for (Map.Entry<String, Step> call : calls.entrySet()) {
            reducing.clear();
            reducing.add(1L);
            CountDownLatch end = reduce.blockNext();
            CompletableFuture<Void> access = inThread(() -> reducing.add(2L));
            reduce.inside.await();
            Thread[] other = new Thread[1];
            CompletableFuture<Void> waiting =
                    inThread(
                            () -> {
                                other[0] = Thread.currentThread();
                                call.getValue().run();
                            });
            Await.until(
                    call.getKey() + " at the gate",
                    () -> waiting.isDone() || other[0] != null && isAtGate(other[0]));
            assertThat(waiting).as(call.getKey()).isNotDone();
            end.countDown();
            access.join();
            waiting.join();
        }
    }

    private static boolean isAtGate(Thread thread) {
        for (StackTraceElement frame : thread.getStackTrace()) {
            if (frame.getMethodName().equals("awaitOwnerOutside")) {
                return true;
            }
        }
        return false;
    }

    /** Adds, and stays inside once if it is told to. */
    private static final class Blocking implements ReduceFunction<Long> {
        private static final long serialVersionUID = 1;

        private transient volatile CountDownLatch end = new CountDownLatch(0);
        private transient volatile CountDownLatch inside = new CountDownLatch(1);

        CountDownLatch blockNext() {
            inside = new CountDownLatch(1);
            end = new CountDownLatch(1);
            return end;
        }

        @Override
        public Long reduce(Long left, Long right) throws Exception {
            CountDownLatch present = end;
            inside.countDown();
            present.await();
            return left + right;
        }
    }

    @Test
    void eachCallAfterTheEndIsRefused() throws Exception {
        Map<String, Step> calls = calls(keyed);
        backends.dispose(keyed);
        calls.forEach(
                (name, call) ->
                        assertThatThrownBy(call::run)
                                .as(name)
                                .hasStackTraceContaining(
                                        "this keyed state backend was disposed of"));
    }

    private static Step reading(Callable<?> call) {
        return call::call;
    }

    /** Whatever another thread may call, on states that have something. */
    private static Map<String, Step> calls(AbstractKeyedStateBackend<String> keyed)
            throws Exception {
        Map<String, Step> calls = new LinkedHashMap<>();
        keyed.setCurrentKey("a");
        InternalValueState<String, TimeWindow, String> value =
                windowed(keyed, new ValueStateDescriptor<>("value", String.class));
        value.setCurrentNamespace(FIRST);
        value.update("v");
        calls.put("value.value", value::value);
        calls.put("value.update", () -> value.update("w"));
        calls.put("value.setCurrentNamespace", () -> value.setCurrentNamespace(SECOND));
        calls.put("value.clear", value::clear);

        InternalListState<String, TimeWindow, Long> list =
                windowed(keyed, new ListStateDescriptor<>("list", Long.class));
        list.setCurrentNamespace(FIRST);
        list.update(Collections.nCopies(20_000, 1L));
        Iterator<Long> elements = list.get().iterator();
        calls.put("elements.next", elements::next);
        calls.put("list.get", list::get);
        calls.put("list.getInternal", list::getInternal);
        calls.put("list.add", () -> list.add(1L));
        calls.put("list.addAll", () -> list.addAll(List.of(1L)));
        calls.put("list.update", () -> list.update(List.of(1L)));
        calls.put("list.updateInternal", () -> list.updateInternal(List.of(1L)));
        calls.put("list.merge", () -> list.mergeNamespaces(FIRST, List.of(SECOND)));
        calls.put("list.clear", list::clear);

        MapState<Long, Long> map = map(keyed, Long.class);
        for (long i = 0; i < 100; i++) {
            map.put(i, i);
        }
        Iterator<Map.Entry<Long, Long>> entries = map.iterator();
        Map.Entry<Long, Long> entry = entries.next();
        Iterator<Long> keys = map.keys().iterator();
        keys.next();
        Iterator<Long> values = map.values().iterator();
        calls.put("map.get", () -> map.get(1L));
        calls.put("map.put", () -> map.put(1L, 2L));
        calls.put("map.putAll", () -> map.putAll(Map.of(1L, 2L)));
        calls.put("map.remove", () -> map.remove(1L));
        calls.put("map.contains", () -> map.contains(1L));
        calls.put("map.isEmpty", map::isEmpty);
        calls.put("map.iterator", map::iterator);
        calls.put("map.entries", reading(() -> map.entries().iterator()));
        calls.put("map.keys", reading(() -> map.keys().iterator()));
        calls.put("map.values", reading(() -> map.values().iterator()));
        calls.put("entries.hasNext", reading(entries::hasNext));
        calls.put("entries.next", entries::next);
        calls.put("entries.remove", entries::remove);
        calls.put("entry.setValue", () -> entry.setValue(7L));
        calls.put("keys.remove", keys::remove);
        calls.put("values.next", values::next);
        calls.put("map.clear", map::clear);

        var timers = timers(keyed, "timers");
        for (long time = 0; time < 100; time++) {
            timers.add(timer(time, "a"));
        }
        var scan = timers.iterator();
        calls.put("timers.peek", timers::peek);
        calls.put("timers.poll", timers::poll);
        calls.put("timers.add", () -> timers.add(timer(200, "a")));
        calls.put("timers.remove", () -> timers.remove(timer(50, "a")));
        calls.put("timers.addAll", () -> timers.addAll(List.of(timer(201, "a"))));
        calls.put("timers.isEmpty", timers::isEmpty);
        calls.put("timers.size", timers::size);
        calls.put("timers.iterator", timers::iterator);
        calls.put("timers.subset", () -> timers.getSubsetForKeyGroup(1));
        calls.put("scan.hasNext", reading(scan::hasNext));
        calls.put("scan.next", scan::next);

        Iterator<String> allKeys = keyed.<TimeWindow>getKeys("value", FIRST).iterator();
        calls.put("backend.setCurrentKey", () -> keyed.setCurrentKey("b"));
        calls.put("backend.setKeyGroup", () -> keyed.setCurrentKeyAndKeyGroup("b", 1));
        calls.put("backend.getKeys", () -> keyed.getKeys("list", FIRST));
        calls.put("backend.getKeysAndNamespaces", () -> keyed.getKeysAndNamespaces("list"));
        calls.put("keys.hasNext", reading(allKeys::hasNext));
        calls.put("backend.count", keyed::numKeyValueStateEntries);
        calls.put(
                "backend.state",
                () -> windowed(keyed, new ValueStateDescriptor<>("more", Types.LONG)));
        calls.put("backend.timers", () -> timers(keyed, "more timers"));
        calls.put("backend.snapshot", () -> Backends.checkpoint(keyed));
        calls.put("backend.savepoint", () -> keyed.savepoint());
        calls.put("backend.complete", () -> keyed.notifyCheckpointComplete(1));
        calls.put("backend.aborted", () -> keyed.notifyCheckpointAborted(1));
        return calls;
    }
}
