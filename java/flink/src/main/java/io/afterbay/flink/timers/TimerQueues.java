package io.afterbay.flink.timers;

import io.afterbay.flink.state.AccessGate;
import io.afterbay.flink.state.CurrentKey;
import io.afterbay.flink.state.FiringLists;
import io.afterbay.flink.state.StateRegistry;
import io.afterbay.store.EntryCursor;
import io.afterbay.store.StateStore;
import io.afterbay.store.StoreSnapshot;
import io.afterbay.store.TriggerSchedule;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.runtime.state.HeapPriorityQueuesManager;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.Keyed;
import org.apache.flink.runtime.state.PriorityComparable;
import org.apache.flink.runtime.state.RegisteredPriorityQueueStateBackendMetaInfo;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSetFactory;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.util.FlinkRuntimeException;
import org.apache.flink.util.StateMigrationException;
import org.jspecify.annotations.Nullable;

/**
 * Makes the queues of a keyed backend: timers go to trigger schedules of the store, elements of any
 * other kind to Flink's heap queues.
 */
public final class TimerQueues {
    private static final int HEAP_QUEUE_CAPACITY = 128;

    private final StateStore store;
    private final StateRegistry registry;
    private final KeyGroupRange keyGroups;
    private final int totalKeyGroups;
    private final int readAheadTimers;
    private final HeapPriorityQueuesManager heapQueues;

    /**
     * @param readAheadTimers see {@link FiringLists}
     */
    public TimerQueues(
            StateStore store,
            StateRegistry registry,
            KeyGroupRange keyGroups,
            int totalKeyGroups,
            int readAheadTimers) {
        this.store = store;
        this.registry = registry;
        this.keyGroups = keyGroups;
        this.totalKeyGroups = totalKeyGroups;
        this.readAheadTimers = readAheadTimers;
        this.heapQueues =
                new HeapPriorityQueuesManager(
                        registry.heapQueues(),
                        new HeapPriorityQueueSetFactory(
                                keyGroups, totalKeyGroups, HEAP_QUEUE_CAPACITY),
                        keyGroups,
                        totalKeyGroups);
    }

    /** See Flink's {@code PriorityQueueSetFactory}. */
    @SuppressWarnings("unchecked") // by the serializer's class
    public <K, T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
            KeyGroupedInternalPriorityQueue<T> create(
                    String name,
                    TypeSerializer<T> serializer,
                    CurrentKey<K> currentKey,
                    boolean upgradable) {
        currentKey.beginAccess();
        if (TimerState.accepts(serializer)) {
            return (KeyGroupedInternalPriorityQueue<T>)
                    timers(
                            name,
                            (TimerSerializer<K, ?>) (TypeSerializer<?>) serializer,
                            currentKey,
                            upgradable);
        }
        return heapQueues.createOrUpdate(name, serializer, upgradable);
    }

    /** A heap queue for elements that are about to be restored, before the operator asks for it. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    public void restoreHeapQueue(String name, TypeSerializer<?> serializer) {
        if (!registry.heapQueues().containsKey(name)) {
            heapQueues.createOrUpdate(name, (TypeSerializer) serializer, true);
        }
    }

    private <K, N> TriggerQueue<K, N> timers(
            String name,
            TimerSerializer<K, N> serializer,
            CurrentKey<K> currentKey,
            boolean upgradable) {
        TimerState<K, N> state = register(name, serializer);
        if (upgradable) {
            state.setMetaInfo(state.metaInfo().withSerializerUpgradesAllowed());
        }
        TriggerSchedule schedule = store.triggers(state.storeName());
        TriggerQueue<K, N> queue = state.queue();
        if (queue == null) {
            FiringLists lists = new FiringLists(store, registry, currentKey, readAheadTimers);
            queue =
                    new TriggerQueue<>(
                            schedule, serializer, currentKey, lists, keyGroups, totalKeyGroups);
            state.setQueue(queue);
        } else {
            queue.update(schedule, serializer);
        }
        return queue;
    }

    @SuppressWarnings("unchecked") // a queue's name stands for its types
    private <K, N> TimerState<K, N> register(String name, TimerSerializer<K, N> serializer) {
        TimerState<K, N> present = (TimerState<K, N>) registry.timers(name);
        if (present == null) {
            return (TimerState<K, N>)
                    registry.addTimers(
                            new RegisteredPriorityQueueStateBackendMetaInfo<>(name, serializer));
        }
        update(present, (TimerSerializer<Object, Object>) (TypeSerializer<?>) serializer);
        return present;
    }

    @SuppressWarnings("unchecked")
    private void update(TimerState<?, ?> state, TimerSerializer<Object, Object> serializer) {
        RegisteredPriorityQueueStateBackendMetaInfo<Object> info =
                (RegisteredPriorityQueueStateBackendMetaInfo<Object>) state.metaInfo();
        TypeSerializer<?> previous = info.getPreviousElementSerializer();
        if (serializer.equals(previous) && state.queue() != null) {
            return;
        }
        TypeSerializerSchemaCompatibility<Object> compatibility =
                info.updateElementSerializer(
                        (TypeSerializer<Object>) (TypeSerializer<?>) serializer);
        if (compatibility.isIncompatible()) {
            throw new FlinkRuntimeException(
                    new StateMigrationException(
                            "The new serializer (%s) of timer queue '%s' must not be incompatible with the old one (%s)."
                                    .formatted(serializer, state.name(), previous)));
        }
        if (compatibility.isCompatibleAfterMigration()) {
            migrate(state, (TimerSerializer<Object, Object>) previous, serializer);
        }
        state.setMetaInfo(
                new RegisteredPriorityQueueStateBackendMetaInfo<>(state.name(), serializer));
    }

    private void migrate(
            TimerState<?, ?> state,
            @Nullable TimerSerializer<Object, Object> previous,
            TimerSerializer<Object, Object> current) {
        if (previous == null) {
            throw new IllegalStateException("no previous serializer of timers " + state.name());
        }
        CurrentKey<Object> noKey =
                new CurrentKey<>(store, new AccessGate(), current.getKeySerializer());
        TimerKeys<Object, Object> from = new TimerKeys<>(previous, noKey, totalKeyGroups);
        TimerKeys<Object, Object> to = new TimerKeys<>(current, noKey, totalKeyGroups);
        try (StoreSnapshot before = store.snapshot()) {
            store.drop(state.storeName());
            TriggerSchedule schedule = store.triggers(state.storeName());
            for (int keyGroup : keyGroups) {
                try (EntryCursor timers = before.entries(state.storeName(), keyGroup)) {
                    while (timers.next()) {
                        long time = timers.timestamp();
                        schedule.add(time, to.of(from.timer(time, timers.key())));
                    }
                }
            }
        }
    }
}
