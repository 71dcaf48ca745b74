package io.afterbay.flink.state;

import org.apache.flink.runtime.state.internal.InternalValueState;
import org.jspecify.annotations.Nullable;

/** {@code ValueState}. */
final class AfterbayValueState<K, N, V> extends AbstractSingleValueState<K, N, V>
        implements InternalValueState<K, N, V> {

    AfterbayValueState(StateContext<K> context, KvState<N, V> state) {
        super(context, state);
    }

    @Override
    public @Nullable V value() {
        beginAccess();
        V value = read();
        return value == null ? defaultValue() : value;
    }

    @Override
    public void update(@Nullable V value) {
        beginAccess();
        if (value == null) {
            clear();
        } else {
            write(value);
        }
    }
}
