package io.afterbay.flink.state;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.serializers.CollectionSerializer;
import java.util.ArrayList;
import java.util.Collection;

/**
 * What Kryo, which finds it by an annotation, reads and copies a {@link LazyList} with: as an
 * {@code ArrayList}. Jobs come to it when a window function emits the {@code Iterable} that it was
 * given.
 */
public final class LazyListSerializer extends CollectionSerializer<Collection<?>> {
    @Override
    protected Collection<?> create(
            Kryo kryo, Input input, Class<? extends Collection<?>> type, int size) {
        return new ArrayList<>(size);
    }

    @Override
    protected Collection<?> createCopy(Kryo kryo, Collection<?> original) {
        return new ArrayList<>(original.size());
    }
}
