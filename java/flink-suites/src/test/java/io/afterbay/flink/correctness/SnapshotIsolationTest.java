package io.afterbay.flink.correctness;

import static io.afterbay.flink.correctness.Backends.windowed;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.Await;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.core.testutils.OneShotLatch;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.internal.InternalListState;
import org.apache.flink.runtime.util.BlockerCheckpointStreamFactory;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Between the synchronous and the asynchronous part of a snapshot everything changes; the snapshot
 * holds what was there at the barrier.
 */
class SnapshotIsolationTest {
    private static final int KEYS = 300;
    private static final TimeWindow WINDOW = new TimeWindow(0, 100);
    private static final TimeWindow OTHER = new TimeWindow(100, 200);

    private final Backends backends = new Backends();

    @AfterEach
    void close() throws Exception {
        backends.close();
    }

    /** The states of one backend. */
    private static final class States {
        final AbstractKeyedStateBackend<String> keyed;
        final ValueState<String> value;
        final InternalListState<String, TimeWindow, String> list;
        final MapState<Integer, String> map;
        final KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<String, TimeWindow>> timers;

        States(AbstractKeyedStateBackend<String> keyed) throws Exception {
            this.keyed = keyed;
            timers =
                    keyed.create(
                            "_timer_state/event_window-timers",
                            new TimerSerializer<>(
                                    keyed.getKeySerializer(), new TimeWindow.Serializer()));
            value =
                    keyed.getPartitionedState(
                            VoidNamespace.INSTANCE,
                            VoidNamespaceSerializer.INSTANCE,
                            new ValueStateDescriptor<>("value", String.class));
            list = windowed(keyed, new ListStateDescriptor<>("window-contents", String.class));
            map =
                    keyed.getPartitionedState(
                            VoidNamespace.INSTANCE,
                            VoidNamespaceSerializer.INSTANCE,
                            new MapStateDescriptor<>("map", Integer.class, String.class));
        }

        void fill() throws Exception {
            for (int i = 0; i < KEYS; i++) {
                keyed.setCurrentKey("key" + i);
                value.update("value" + i);
                addTo(WINDOW, "first" + i, "second" + i);
                addTo(OTHER, "other" + i);
                map.put(i, "entry");
                map.put(-i - 1, null);
                timers.add(new TimerHeapInternalTimer<>(99, "key" + i, WINDOW));
                timers.add(new TimerHeapInternalTimer<>(199, "key" + i, OTHER));
            }
        }

        void addTo(TimeWindow window, String... elements) throws Exception {
            list.setCurrentNamespace(window);
            list.addAll(List.of(elements));
        }

        /** All that there is, readable, keyed by where it is. */
        TreeMap<String, String> content() throws Exception {
            TreeMap<String, String> all = new TreeMap<>();
            for (int i = 0; i < KEYS; i++) {
                keyed.setCurrentKey("key" + i);
                all.put(i + " value", String.valueOf(value.value()));
                for (TimeWindow window : List.of(WINDOW, OTHER)) {
                    list.setCurrentNamespace(window);
                    Iterable<String> elements = list.get();
                    all.put(
                            i + " list " + window,
                            elements == null ? "" : String.join(",", elements));
                }
                TreeMap<Integer, String> entries = new TreeMap<>();
                map.entries().forEach(e -> entries.put(e.getKey(), e.getValue()));
                all.put(i + " map", entries.toString());
            }
            try (var iterator = timers.iterator()) {
                while (iterator.hasNext()) {
                    all.put("timer " + iterator.next(), "");
                }
            }
            return all;
        }

        /**
         * Overwrites, merges, clears and fires, and writes enough to evict and flush everything.
         */
        void changeEverything() throws Exception {
            Random random = new Random(5);
            for (int i = 0; i < KEYS; i++) {
                keyed.setCurrentKey("key" + i);
                switch (random.nextInt(4)) {
                    case 0 -> value.clear();
                    default -> value.update("changed" + i);
                }
                switch (random.nextInt(4)) {
                    case 0 -> list.mergeNamespaces(WINDOW, List.of(OTHER));
                    case 1 -> {
                        list.setCurrentNamespace(WINDOW);
                        list.clear();
                    }
                    case 2 -> addTo(WINDOW, "late" + i);
                    default -> {
                        list.setCurrentNamespace(OTHER);
                        list.update(List.of("updated" + i));
                    }
                }
                map.put(i, "changed");
                map.remove(-i - 1);
                map.put(10_000 + i, "new");
            }
            for (int i = 0; i < KEYS; i++) {
                TimerHeapInternalTimer<String, TimeWindow> fired = timers.poll();
                keyed.setCurrentKey(fired.getKey());
                list.setCurrentNamespace(fired.getNamespace());
                list.clear();
            }
            timers.add(new TimerHeapInternalTimer<>(5, "key0", WINDOW));
            writeMoreThanTheBudget();
        }

        private void writeMoreThanTheBudget() throws Exception {
            String block = "x".repeat(64 << 10);
            for (int i = 0; i < 2 * Backends.MANAGED_BYTES / block.length(); i++) {
                keyed.setCurrentKey("filler" + i % 64);
                list.setCurrentNamespace(WINDOW);
                list.update(List.of(block + i));
            }
        }
    }

    @Test
    void restoresTheBarriersState() throws Exception {
        States states = new States(backends.ours());
        states.fill();
        TreeMap<String, String> atTheBarrier = states.content();
        RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot =
                Backends.beginCheckpoint(states.keyed);
        states.changeEverything();
        KeyedStateHandle handle = Backends.finish(snapshot);
        backends.dispose(states.keyed);
        States restored = new States(backends.ours(handle));
        assertThat(restored.content()).isEqualTo(atTheBarrier);
    }

    /** The writer of the snapshot and the task work at the same time. */
    @Test
    void restoresTheBarriersStateUnderConcurrentChanges() throws Exception {
        States states = new States(backends.ours());
        states.fill();
        TreeMap<String, String> atTheBarrier = states.content();
        for (int round = 0; round < 3; round++) {
            RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot =
                    Backends.beginCheckpoint(states.keyed);
            CompletableFuture<KeyedStateHandle> handle =
                    CompletableFuture.supplyAsync(() -> unchecked(snapshot));
            if (round == 0) {
                states.changeEverything();
            } else {
                states.writeMoreThanTheBudget();
            }
            KeyedStateHandle finished = handle.get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
            try (Backends others = new Backends()) {
                assertThat(new States(others.ours(finished)).content()).isEqualTo(atTheBarrier);
            }
            atTheBarrier = states.content();
        }
    }

    private static KeyedStateHandle unchecked(
            RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot) {
        try {
            return Backends.finish(snapshot);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** A reader that is stopped in the middle of the file: dispose must not free what it reads. */
    @Test
    void disposeWaitsForReaders() throws Exception {
        States states = new States(backends.ours());
        states.fill();
        BlockerCheckpointStreamFactory streams = new BlockerCheckpointStreamFactory(64 << 20);
        OneShotLatch inTheMiddle = new OneShotLatch();
        OneShotLatch goOn = new OneShotLatch();
        streams.setWaiterLatch(inTheMiddle);
        streams.setBlockerLatch(goOn);
        streams.setAfterNumberInvocations(5);
        RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot =
                Backends.beginCheckpoint(states.keyed, streams);
        Thread writer = new Thread(snapshot, "snapshot");
        writer.start();
        inTheMiddle.await(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
        CompletableFuture<Void> released =
                CompletableFuture.runAsync(
                        goOn::trigger,
                        CompletableFuture.delayedExecutor(200, TimeUnit.MILLISECONDS));
        backends.dispose(states.keyed);
        released.join();
        writer.join(Await.DEADLINE.toMillis());
        assertThat(writer.isAlive()).isFalse();
        assertThat(endsCleanly(snapshot)).isTrue();
    }

    /** Complete, or failed as a cancelled one does; never a crash of the virtual machine. */
    private static boolean endsCleanly(RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot)
            throws InterruptedException {
        try {
            return snapshot.get().getJobManagerOwnedSnapshot() != null;
        } catch (ExecutionException | java.util.concurrent.CancellationException e) {
            return !(e.getCause() instanceof Error);
        }
    }
}
