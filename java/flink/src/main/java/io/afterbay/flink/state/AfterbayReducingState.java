package io.afterbay.flink.state;

import org.apache.flink.api.common.functions.ReduceFunction;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.runtime.state.internal.InternalReducingState;
import org.jspecify.annotations.Nullable;

/** {@code ReducingState}. */
final class AfterbayReducingState<K, N, V> extends AbstractFoldingState<K, N, V, V, V>
        implements InternalReducingState<K, N, V> {
    private ReduceFunction<V> function;

    AfterbayReducingState(
            StateContext<K> context, KvState<N, V> state, ReducingStateDescriptor<V> descriptor) {
        super(context, state);
        function = descriptor.getReduceFunction();
    }

    @Override
    void update(StateDescriptor<?, V> descriptor) {
        super.update(descriptor);
        function = ((ReducingStateDescriptor<V>) descriptor).getReduceFunction();
    }

    @Override
    public @Nullable V get() {
        beginAccess();
        return read();
    }

    @Override
    public void add(V value) throws Exception {
        beginAccess();
        V present = read();
        updateInternal(present == null ? value : function.reduce(present, value));
    }

    @Override
    V merge(V left, V right) throws Exception {
        return function.reduce(left, right);
    }
}
