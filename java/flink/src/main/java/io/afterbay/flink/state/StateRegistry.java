package io.afterbay.flink.state;

import io.afterbay.flink.timers.TimerState;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.RegisteredPriorityQueueStateBackendMetaInfo;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSnapshotRestoreWrapper;
import org.jspecify.annotations.Nullable;

/** All states of a keyed backend by name, restored ones that nobody has asked for yet included. */
public final class StateRegistry {
    private final Map<String, KvState<?, ?>> states = new LinkedHashMap<>();
    private final Map<String, TimerState<?, ?>> timers = new LinkedHashMap<>();
    private final Map<String, HeapPriorityQueueSnapshotRestoreWrapper<?>> heapQueues =
            new HashMap<>();

    public Collection<KvState<?, ?>> states() {
        return states.values();
    }

    public @Nullable KvState<?, ?> state(String name) {
        return states.get(name);
    }

    public boolean hasState(String name) {
        return states.containsKey(name);
    }

    public <N, V> KvState<N, V> addState(RegisteredKeyValueStateBackendMetaInfo<N, V> metaInfo) {
        KvState<N, V> state = new KvState<>(metaInfo);
        states.put(state.name(), state);
        return state;
    }

    public Collection<TimerState<?, ?>> timers() {
        return timers.values();
    }

    public @Nullable TimerState<?, ?> timers(String name) {
        return timers.get(name);
    }

    public TimerState<?, ?> addTimers(RegisteredPriorityQueueStateBackendMetaInfo<?> metaInfo) {
        TimerState<?, ?> state = new TimerState<>(metaInfo);
        timers.put(metaInfo.getName(), state);
        return state;
    }

    /**
     * Queues of other elements than timers, in the form that Flink's manager of heap queues wants.
     */
    public Map<String, HeapPriorityQueueSnapshotRestoreWrapper<?>> heapQueues() {
        return heapQueues;
    }
}
