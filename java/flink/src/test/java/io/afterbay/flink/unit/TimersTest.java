package io.afterbay.flink.unit;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.flink.AfterbayKeyedStateBackend;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The timer queue against a sorted set. */
class TimersTest {
    private static final TimerSerializer<Integer, Integer> SERIALIZER =
            new TimerSerializer<>(IntSerializer.INSTANCE, IntSerializer.INSTANCE);

    private final Backends backends = new Backends();

    @AfterEach
    void close() throws Exception {
        backends.close();
    }

    private static KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, Integer>> queue(
            AfterbayKeyedStateBackend<Integer> backend) {
        return backend.create("timers", SERIALIZER);
    }

    private static TimerHeapInternalTimer<Integer, Integer> timer(long time, int key, int window) {
        return new TimerHeapInternalTimer<>(time, key, window);
    }

    private static int keyGroup(int key) {
        return KeyGroupRangeAssignment.assignToKeyGroup(key, Backends.KEY_GROUPS);
    }

    /** The order that is promised; that of equal timestamps in one key group is left open. */
    private static final Comparator<TimerHeapInternalTimer<Integer, Integer>> ORDER =
            Comparator.comparingLong(TimerHeapInternalTimer<Integer, Integer>::getTimestamp)
                    .thenComparingInt(timer -> keyGroup(timer.getKey()));

    private static final Comparator<TimerHeapInternalTimer<Integer, Integer>> TOTAL =
            ORDER.thenComparingInt(TimerHeapInternalTimer::getKey)
                    .thenComparingInt(TimerHeapInternalTimer::getNamespace);

    @Test
    void behavesAsASortedSet() throws Exception {
        AfterbayKeyedStateBackend<Integer> backend = backends.open(IntSerializer.INSTANCE);
        var queue = queue(backend);
        TreeSet<TimerHeapInternalTimer<Integer, Integer>> model = new TreeSet<>(TOTAL);
        Random random = new Random(7);
        for (int step = 0; step < 20_000; step++) {
            var timer = timer(random.nextInt(40) - 20, random.nextInt(30), random.nextInt(3));
            if (random.nextInt(4) == 0) {
                backend.setCurrentKey(timer.getKey()); // the bytes of the current key are reused
            }
            var head = model.isEmpty() ? null : queue.peek();
            switch (random.nextInt(5)) {
                case 0, 1 -> {
                    boolean headChanged = queue.add(timer);
                    model.add(timer);
                    assertHeadReported(headChanged, head, queue.peek());
                }
                case 2, 3 -> {
                    boolean headChanged = queue.remove(timer);
                    model.remove(timer);
                    assertHeadReported(headChanged, head, queue.peek());
                }
                default -> {
                    var polled = queue.poll();
                    assertThat(polled).isEqualTo(head);
                    if (polled != null) {
                        assertThat(ORDER.compare(polled, model.first())).isZero();
                        assertThat(model.remove(polled)).isTrue();
                    }
                }
            }
            assertThat(queue.size()).isEqualTo(model.size());
            assertThat(queue.isEmpty()).isEqualTo(model.isEmpty());
        }
    }

    /** "False" means for certain that the head is the same. */
    private static void assertHeadReported(boolean changed, Object before, Object after) {
        if (!changed) {
            assertThat(after).isEqualTo(before);
        }
    }

    @Test
    void reportsAnUnchangedHead() throws Exception {
        var queue = queue(backends.open(IntSerializer.INSTANCE));
        assertThat(queue.add(timer(10, 1, 0))).isTrue();
        assertThat(queue.peek()).isEqualTo(timer(10, 1, 0));
        assertThat(queue.add(timer(10, 1, 0))).as("is there already").isFalse();
        assertThat(queue.add(timer(11, 1, 0))).isFalse();
        assertThat(queue.remove(timer(11, 1, 0))).isFalse();
        assertThat(queue.remove(timer(12, 1, 0))).as("was never there").isFalse();
        assertThat(queue.add(timer(9, 1, 0))).isTrue();
        assertThat(queue.peek()).isEqualTo(timer(9, 1, 0));
        assertThat(queue.remove(timer(9, 1, 0))).isTrue();
        assertThat(queue.peek()).isEqualTo(timer(10, 1, 0));
    }

    /** A window operator adds each timer twice in a row; the second time is a short cut. */
    @Test
    void whatWasAddedLastCanBeTakenOutAndAddedAgain() throws Exception {
        AfterbayKeyedStateBackend<Integer> backend = backends.open(IntSerializer.INSTANCE);
        var queue = queue(backend);
        backend.setCurrentKey(1);
        addTwice(queue, timer(10, 1, 0));
        assertThat(queue.remove(timer(10, 1, 0))).isTrue();
        assertThat(queue.isEmpty()).isTrue();
        addTwice(queue, timer(10, 1, 0));
        assertThat(queue.poll()).isEqualTo(timer(10, 1, 0));
        assertThat(queue.isEmpty()).isTrue();
        addTwice(queue, timer(10, 1, 0));
        queue.add(timer(10, 1, 1));
        queue.add(timer(11, 1, 1));
        backend.setCurrentKey(2);
        queue.add(timer(11, 2, 1));
        queue.add(timer(11, 3, 1)); // not the current key
        assertThat(queue.size()).isEqualTo(5);
    }

    private static void addTwice(
            KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, Integer>> queue,
            TimerHeapInternalTimer<Integer, Integer> timer) {
        queue.add(timer);
        assertThat(queue.add(timer)).as("is there already").isFalse();
        assertThat(queue.size()).isOne();
        assertThat(queue.peek()).isEqualTo(timer);
    }

    @Test
    void takesAnyTimestamp() throws Exception {
        var queue = queue(backends.open(IntSerializer.INSTANCE));
        List<Long> times = List.of(Long.MIN_VALUE, -1L, 0L, 1L, Long.MAX_VALUE);
        for (int i = times.size() - 1; i >= 0; i--) {
            queue.add(timer(times.get(i), i, 0));
        }
        for (long time : times) {
            assertThat(queue.poll().getTimestamp()).isEqualTo(time);
        }
        assertThat(queue.poll()).isNull();
    }

    @Test
    void equalTimestampsComeKeyGroupByKeyGroup() throws Exception {
        var queue = queue(backends.open(IntSerializer.INSTANCE));
        for (int key = 0; key < 500; key++) {
            queue.add(timer(100, key, 0));
        }
        List<Integer> keyGroups = new ArrayList<>();
        for (var timer = queue.poll(); timer != null; timer = queue.poll()) {
            keyGroups.add(keyGroup(timer.getKey()));
        }
        assertThat(keyGroups).isSorted().hasSize(500).contains(0, Backends.KEY_GROUPS - 1);
    }

    @Test
    void iteratesAllAndByKeyGroup() throws Exception {
        var queue = queue(backends.open(IntSerializer.INSTANCE));
        List<TimerHeapInternalTimer<Integer, Integer>> timers = new ArrayList<>();
        for (int key = 0; key < 50; key++) {
            timers.add(timer(key % 7, key, key));
        }
        queue.addAll(timers);
        List<TimerHeapInternalTimer<Integer, Integer>> seen = new ArrayList<>();
        try (CloseableIterator<TimerHeapInternalTimer<Integer, Integer>> all = queue.iterator()) {
            all.forEachRemaining(seen::add);
        }
        assertThat(seen).containsExactlyInAnyOrderElementsOf(timers);
        for (int group = 0; group < Backends.KEY_GROUPS; group++) {
            int keyGroup = group;
            assertThat(queue.getSubsetForKeyGroup(group))
                    .containsExactlyInAnyOrderElementsOf(
                            timers.stream()
                                    .filter(timer -> keyGroup(timer.getKey()) == keyGroup)
                                    .toList());
        }
    }

    @Test
    void areInEverySnapshot() throws Exception {
        AfterbayKeyedStateBackend<Integer> first = backends.open(IntSerializer.INSTANCE);
        var queue = queue(first);
        for (int key = 0; key < 50; key++) {
            queue.add(timer(-key, key, key));
        }
        for (KeyedStateHandle handle :
                List.of(Backends.checkpoint(first), Backends.canonicalSavepoint(first))) {
            var restored = queue(backends.open(IntSerializer.INSTANCE, handle));
            for (int key = 49; key >= 0; key--) {
                assertThat(restored.poll()).isEqualTo(timer(-key, key, key));
            }
            assertThat(restored.isEmpty()).isTrue();
        }
    }
}
