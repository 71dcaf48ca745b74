package io.afterbay.flink.timers;

import io.afterbay.flink.state.CurrentKey;
import io.afterbay.store.StateKey;
import java.io.IOException;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.util.FlinkRuntimeException;

/** Translates between timers and their addresses: key group, key and namespace, serialised. */
final class TimerKeys<K, N> {
    private final TimerSerializer<K, N> serializer;
    private final CurrentKey<K> currentKey;
    private final int totalKeyGroups;
    private final DataOutputSerializer out = new DataOutputSerializer(64);
    private final DataInputDeserializer in = new DataInputDeserializer();
    private final StateKey key = new StateKey();

    TimerKeys(TimerSerializer<K, N> serializer, CurrentKey<K> currentKey, int totalKeyGroups) {
        this.serializer = serializer;
        this.currentKey = currentKey;
        this.totalKeyGroups = totalKeyGroups;
    }

    /** The timer's address; reused by the next call. */
    StateKey of(TimerHeapInternalTimer<K, N> timer) {
        try {
            setKey(timer.getKey());
            out.clear();
            serializer.getNamespaceSerializer().serialize(timer.getNamespace(), out);
            return key.setNamespace(out.getSharedBuffer(), 0, out.length());
        } catch (IOException e) {
            throw new FlinkRuntimeException("could not serialise the timer " + timer, e);
        }
    }

    /** Most timers are registered under the current key, whose bytes are there already. */
    private void setKey(K timerKey) throws IOException {
        if (currentKey.isSame(timerKey)) {
            currentKey.copyTo(key);
            return;
        }
        out.clear();
        serializer.getKeySerializer().serialize(timerKey, out);
        int keyGroup = KeyGroupRangeAssignment.assignToKeyGroup(timerKey, totalKeyGroups);
        key.setKey(keyGroup, out.getSharedBuffer(), 0, out.length());
    }

    TimerHeapInternalTimer<K, N> timer(long timestamp, StateKey at) {
        try {
            in.setBuffer(at.bytes(), 0, at.length());
            K timerKey = serializer.getKeySerializer().deserialize(in);
            N namespace = serializer.getNamespaceSerializer().deserialize(in);
            return new TimerHeapInternalTimer<>(timestamp, timerKey, namespace);
        } catch (IOException e) {
            throw new FlinkRuntimeException(
                    "could not deserialise a timer of time " + timestamp, e);
        }
    }
}
