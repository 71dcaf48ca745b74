package io.afterbay.flink.snapshot;

import io.afterbay.flink.state.KvState;
import io.afterbay.flink.state.StateRegistry;
import io.afterbay.flink.timers.TimerQueues;
import io.afterbay.flink.timers.TimerState;
import io.afterbay.store.StateKey;
import io.afterbay.store.StateStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.RegisteredPriorityQueueStateBackendMetaInfo;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSnapshotRestoreWrapper;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot.CommonSerializerKeys;

/**
 * Registers the states of a snapshot and takes their entries in, whatever the snapshot's format.
 */
final class RestoredStates {
    private final StateStore store;
    private final StateRegistry registry;
    private final TimerQueues timers;

    RestoredStates(StateStore store, StateRegistry registry, TimerQueues timers) {
        this.store = store;
        this.registry = registry;
        this.timers = timers;
    }

    StateStore store() {
        return store;
    }

    StateRegistry registry() {
        return registry;
    }

    /**
     * Registers what is not known yet; the results are in the order of the numbers in the snapshot.
     */
    List<Target> register(List<StateMetaInfoSnapshot> metaInfos) {
        List<Target> targets = new ArrayList<>(metaInfos.size());
        metaInfos.forEach(metaInfo -> targets.add(register(metaInfo)));
        return targets;
    }

    private Target register(StateMetaInfoSnapshot metaInfo) {
        return switch (metaInfo.getBackendStateType()) {
            case KEY_VALUE, KEY_VALUE_V2 -> new KvTarget(registerState(metaInfo));
            case PRIORITY_QUEUE -> registerQueue(metaInfo);
            default ->
                    throw new IllegalStateException(
                            "state '%s' of type %s is no keyed state"
                                    .formatted(metaInfo.getName(), metaInfo.getBackendStateType()));
        };
    }

    private KvState<?, ?> registerState(StateMetaInfoSnapshot metaInfo) {
        KvState<?, ?> present = registry.state(metaInfo.getName());
        return present != null
                ? present
                : registry.addState(
                        (RegisteredKeyValueStateBackendMetaInfo<?, ?>)
                                RegisteredKeyValueStateBackendMetaInfo.fromMetaInfoSnapshot(
                                        metaInfo));
    }

    private Target registerQueue(StateMetaInfoSnapshot metaInfo) {
        String name = metaInfo.getName();
        TypeSerializerSnapshot<?> serializer =
                Objects.requireNonNull(
                        metaInfo.getTypeSerializerSnapshot(CommonSerializerKeys.VALUE_SERIALIZER));
        if (TimerState.wrote(serializer)) {
            TimerState<?, ?> present = registry.timers(name);
            return new TimerTarget(
                    present != null
                            ? present
                            : registry.addTimers(
                                    new RegisteredPriorityQueueStateBackendMetaInfo<>(metaInfo)));
        }
        timers.restoreHeapQueue(name, serializer.restoreSerializer());
        return new ElementTarget(Objects.requireNonNull(registry.heapQueues().get(name)));
    }

    /** Where the entries of one state go. */
    sealed interface Target permits KvTarget, TimerTarget, ElementTarget {}

    record KvTarget(KvState<?, ?> state) implements Target {}

    record TimerTarget(TimerState<?, ?> state) implements Target {}

    record ElementTarget(HeapPriorityQueueSnapshotRestoreWrapper<?> queue) implements Target {
        @SuppressWarnings("unchecked") // the element is read by the queue's own serializer
        void add(DataInputDeserializer in) throws IOException {
            HeapPriorityQueueSnapshotRestoreWrapper<HeapPriorityQueueElement> wrapper =
                    (HeapPriorityQueueSnapshotRestoreWrapper<HeapPriorityQueueElement>) queue;
            TypeSerializer<HeapPriorityQueueElement> serializer =
                    wrapper.getMetaInfo().getElementSerializer();
            wrapper.getPriorityQueue().add(serializer.deserialize(in));
        }
    }

    void addTimer(TimerTarget target, long timestamp, StateKey key) {
        store.triggers(target.state().storeName()).add(timestamp, key);
    }
}
