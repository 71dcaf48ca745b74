package io.afterbay.workloads.nexmark;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** What the serializers of immutable classes have in common: a copy is the object itself. */
abstract class ImmutableSerializer<T> extends TypeSerializerSingleton<T> {
    static final int VARIABLE_LENGTH = -1;

    private static final long serialVersionUID = 1;

    @Override
    public final boolean isImmutableType() {
        return true;
    }

    @Override
    public int getLength() {
        return VARIABLE_LENGTH;
    }

    @Override
    public final T copy(T from) {
        return from;
    }

    @Override
    public final T copy(T from, T reuse) {
        return from;
    }

    @Override
    public final T deserialize(T reuse, DataInputView source) throws IOException {
        return deserialize(source);
    }

    @Override
    public final void copy(DataInputView source, DataOutputView target) throws IOException {
        serialize(deserialize(source), target);
    }
}
