package io.afterbay.flink.state;

import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.ValueStore;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.jspecify.annotations.Nullable;

/** States that hold one value per key and namespace. */
abstract class AbstractSingleValueState<K, N, V> extends AbstractAfterbayState<K, N, V> {
    private ValueStore values;

    AbstractSingleValueState(StateContext<K> context, KvState<N, V> state) {
        super(context, state);
        values = store().values(state.storeName());
    }

    @Override
    void reopen() {
        values = store().values(state.storeName());
    }

    @Override
    public void clear() {
        values.remove(address());
    }

    final @Nullable V read() {
        return values.get(address(), slice) ? deserialize() : null;
    }

    private V deserialize() {
        in.setBuffer(slice.array(), 0, slice.length());
        try {
            return getValueSerializer().deserialize(in);
        } catch (IOException e) {
            throw failed("deserialise the value of", e);
        }
    }

    final void write(V value) {
        out.clear();
        try {
            getValueSerializer().serialize(value, out);
        } catch (IOException e) {
            throw failed("serialise the value of", e);
        }
        values.put(address(), out.getSharedBuffer(), 0, out.length());
    }

    @Override
    byte @Nullable [] serializedValue(StateKey at, TypeSerializer<V> serializer) {
        Slice value = new Slice();
        return values.get(at, value) ? value.toByteArray() : null;
    }
}
