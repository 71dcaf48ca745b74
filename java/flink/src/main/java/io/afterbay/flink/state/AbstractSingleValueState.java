package io.afterbay.flink.state;

import io.afterbay.flink.state.ObjectCache.Known;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.ValueStore;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.jspecify.annotations.Nullable;

/** States that hold one value per key and namespace, in the object tier if that admits them. */
abstract class AbstractSingleValueState<K, N, V> extends AbstractAfterbayState<K, N, V> {
    private ValueStore values;
    private @Nullable ObjectCache<K, N, V> objects;

    AbstractSingleValueState(StateContext<K> context, KvState<N, V> state) {
        super(context, state);
        values = store().values(state.storeName());
    }

    @Override
    void reopen() {
        values = store().values(state.storeName());
        objects = context.objects().open(this);
    }

    @Override
    public void clear() {
        beginAccess();
        if (objects == null) {
            removeStored();
        } else {
            objects.clear(namespace());
        }
    }

    final @Nullable V read() {
        return objects == null ? readStored() : objects.read(namespace());
    }

    final void write(V value) {
        if (objects == null) {
            writeStored(value);
        } else {
            objects.write(namespace(), value);
        }
    }

    /** What the store has for the present key and namespace. */
    final @Nullable V readStored() {
        return values.get(address(), slice) ? deserialize() : null;
    }

    /** Length in bytes of what {@link #readStored} has found. */
    final int readLength() {
        return slice.length();
    }

    private V deserialize() {
        in.setBuffer(slice.array(), 0, slice.length());
        try {
            return getValueSerializer().deserialize(in);
        } catch (IOException e) {
            throw failed("deserialise the value of", e);
        }
    }

    /** Returns the length in bytes. */
    final int writeStored(V value) {
        out.clear();
        try {
            getValueSerializer().serialize(value, out);
        } catch (IOException e) {
            throw failed("serialise the value of", e);
        }
        values.put(address(), out.getSharedBuffer(), 0, out.length());
        return out.length();
    }

    final void removeStored() {
        values.remove(address());
    }

    @Override
    byte @Nullable [] serializedValue(
            K key, N itsNamespace, StateKey at, TypeSerializer<V> serializer) throws IOException {
        Known<V> known = objects == null ? null : objects.peek(key, itsNamespace);
        if (known == null) {
            return serializedValue(at, serializer);
        }
        return known.value() == null ? null : serialize(known.value(), serializer);
    }

    private static <V> byte[] serialize(V value, TypeSerializer<V> serializer) throws IOException {
        DataOutputSerializer bytes = new DataOutputSerializer(64);
        serializer.serialize(value, bytes);
        return bytes.getCopyOfBuffer();
    }

    @Override
    byte @Nullable [] serializedValue(StateKey at, TypeSerializer<V> serializer) {
        Slice value = new Slice();
        return values.get(at, value) ? value.toByteArray() : null;
    }
}
