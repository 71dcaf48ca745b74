package io.afterbay.flink.state;

import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.runtime.state.internal.InternalAggregatingState;
import org.jspecify.annotations.Nullable;

/** {@code AggregatingState}. */
final class AfterbayAggregatingState<K, N, I, A, O> extends AbstractFoldingState<K, N, I, A, O>
        implements InternalAggregatingState<K, N, I, A, O> {
    private AggregateFunction<I, A, O> function;

    AfterbayAggregatingState(
            StateContext<K> context,
            KvState<N, A> state,
            AggregatingStateDescriptor<I, A, O> descriptor) {
        super(context, state);
        function = descriptor.getAggregateFunction();
    }

    @Override
    @SuppressWarnings("unchecked") // the types are those that the state was created with
    void update(StateDescriptor<?, A> descriptor) {
        super.update(descriptor);
        function = ((AggregatingStateDescriptor<I, A, O>) descriptor).getAggregateFunction();
    }

    @Override
    public @Nullable O get() {
        beginAccess();
        A accumulator = read();
        return accumulator == null ? null : function.getResult(accumulator);
    }

    @Override
    public void add(I value) {
        beginAccess();
        A accumulator = read();
        updateInternal(
                function.add(
                        value, accumulator == null ? function.createAccumulator() : accumulator));
    }

    @Override
    A merge(A left, A right) {
        return function.merge(left, right);
    }
}
