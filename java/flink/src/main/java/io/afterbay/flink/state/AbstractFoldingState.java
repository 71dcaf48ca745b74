package io.afterbay.flink.state;

import java.util.Collection;
import org.apache.flink.runtime.state.internal.InternalMergingState;
import org.jspecify.annotations.Nullable;

/** States that fold what is added into one value, and so can merge namespaces. */
abstract class AbstractFoldingState<K, N, I, V, O> extends AbstractSingleValueState<K, N, V>
        implements InternalMergingState<K, N, I, V, O> {

    AbstractFoldingState(StateContext<K> context, KvState<N, V> state) {
        super(context, state);
    }

    @Override
    public @Nullable V getInternal() {
        beginAccess();
        return read();
    }

    @Override
    public void updateInternal(@Nullable V value) {
        beginAccess();
        if (value == null) {
            clear();
        } else {
            write(value);
        }
    }

    @Override
    public void mergeNamespaces(N target, @Nullable Collection<N> sources) throws Exception {
        beginAccess();
        if (sources == null || sources.isEmpty()) {
            return;
        }
        V merged = null;
        for (N source : sources) {
            V value = take(source);
            if (value != null) {
                merged = merged == null ? value : merge(merged, value);
            }
        }
        setCurrentNamespace(target);
        if (merged != null) {
            V value = read();
            write(value == null ? merged : merge(value, merged));
        }
    }

    private @Nullable V take(@Nullable N source) {
        if (source == null) {
            return null;
        }
        setCurrentNamespace(source);
        V value = read();
        if (value != null) {
            clear();
        }
        return value;
    }

    abstract V merge(V left, V right) throws Exception;
}
