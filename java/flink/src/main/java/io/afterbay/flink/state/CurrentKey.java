package io.afterbay.flink.state;

import io.afterbay.store.StateKey;
import io.afterbay.store.StateStore;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.util.FlinkRuntimeException;
import org.jspecify.annotations.Nullable;

/**
 * The key that the operator works on, serialised at most once per change; the states copy the bytes
 * when they go to the store. When the key changes, it also ends what reads the store for lists that
 * were handed out under the key before.
 */
public final class CurrentKey<K> {
    private final StateStore store;
    private final AccessGate gate;
    private final TypeSerializer<K> serializer;
    private final DataOutputSerializer bytes = new DataOutputSerializer(64);
    private @Nullable K key;
    private int keyGroup;
    private long version;
    private boolean readersOpen;
    private final boolean isImmutable;
    private boolean isSerialized;

    public CurrentKey(StateStore store, AccessGate gate, TypeSerializer<K> serializer) {
        this.store = store;
        this.gate = gate;
        this.serializer = serializer;
        this.isImmutable = ObjectTypes.canBeShared(serializer);
    }

    /**
     * Moves to another key. Serialises it at once unless it is immutable: the object may be reused
     * by the caller. That one has passed the gate.
     */
    public void set(K newKey, int newKeyGroup) {
        endReaders();
        version++;
        key = newKey;
        keyGroup = newKeyGroup;
        isSerialized = false;
        if (!isImmutable) {
            serialize(newKey);
        }
    }

    private void endReaders() {
        if (readersOpen) {
            store.releaseReaders();
            readersOpen = false;
        }
    }

    private void serialize(K present) {
        bytes.clear();
        try {
            serializer.serialize(present, bytes);
        } catch (IOException e) {
            throw new FlinkRuntimeException("the key " + present + " could not be serialised", e);
        }
        isSerialized = true;
    }

    /**
     * The key.
     *
     * @throws NullPointerException if none has been set
     */
    K get() {
        K present = key;
        if (present == null) {
            throw new NullPointerException(
                    "No key set. This method should not be called outside of a keyed context.");
        }
        return present;
    }

    /** Changes with every {@link #set}; 0 while no key has been set. */
    public long version() {
        return version;
    }

    /** Whether {@code other} is the very object that was set. */
    public boolean isSame(Object other) {
        return key == other;
    }

    public int keyGroup() {
        return keyGroup;
    }

    /** Sets key group and key of {@code target}; its namespace becomes empty. */
    public void copyTo(StateKey target) {
        if (!isSerialized) {
            serialize(get());
        }
        target.setKey(keyGroup, bytes.getSharedBuffer(), 0, bytes.length());
    }

    /** Notes that a list reader is in the hands of the user. */
    void readerHandedOut() {
        readersOpen = true;
    }

    /** Called before anything else by each method that others may call: {@link AccessGate#pass}. */
    public void beginAccess() {
        gate.pass();
    }
}
