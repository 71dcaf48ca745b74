package io.afterbay.flink.timers;

import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.runtime.state.RegisteredPriorityQueueStateBackendMetaInfo;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.streaming.api.operators.TimerSerializerSnapshot;
import org.jspecify.annotations.Nullable;

/** A registered timer queue: its meta data and where it lies in the store. */
public final class TimerState<K, N> {
    private RegisteredPriorityQueueStateBackendMetaInfo<?> metaInfo;
    private @Nullable TriggerQueue<K, N> queue;

    public TimerState(RegisteredPriorityQueueStateBackendMetaInfo<?> metaInfo) {
        this.metaInfo = metaInfo;
    }

    public String name() {
        return metaInfo.getName();
    }

    /** Apart from the names of keyed states, which may be the same. */
    public String storeName() {
        return "timers/" + name();
    }

    public RegisteredPriorityQueueStateBackendMetaInfo<?> metaInfo() {
        return metaInfo;
    }

    public void setMetaInfo(RegisteredPriorityQueueStateBackendMetaInfo<?> metaInfo) {
        this.metaInfo = metaInfo;
    }

    /** The queue over this state; null until the operator asks for it. */
    public @Nullable TriggerQueue<K, N> queue() {
        return queue;
    }

    public void setQueue(TriggerQueue<K, N> queue) {
        this.queue = queue;
    }

    /** Whether elements of this serializer are timers, which a trigger schedule can hold. */
    public static boolean accepts(TypeSerializer<?> serializer) {
        return serializer instanceof TimerSerializer;
    }

    /** As {@link #accepts}, of a serializer known by what was written about it. */
    public static boolean wrote(TypeSerializerSnapshot<?> serializer) {
        return serializer instanceof TimerSerializerSnapshot;
    }
}
