package io.afterbay.flink.state;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.jspecify.annotations.Nullable;

/**
 * The stored form of a map's values: a byte that is 1 for null, then the value. It is the form in
 * which canonical savepoints carry them.
 */
public final class MapValues {
    static final int HEADER_BYTES = 1;

    private MapValues() {}

    static <V> void write(@Nullable V value, TypeSerializer<V> serializer, DataOutputSerializer out)
            throws IOException {
        out.writeBoolean(value == null);
        if (value != null) {
            serializer.serialize(value, out);
        }
    }

    static <V> @Nullable V read(DataInputDeserializer in, TypeSerializer<V> serializer)
            throws IOException {
        return in.readBoolean() ? null : serializer.deserialize(in);
    }
}
