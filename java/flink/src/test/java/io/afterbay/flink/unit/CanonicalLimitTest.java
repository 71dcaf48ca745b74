package io.afterbay.flink.unit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.flink.AfterbayKeyedStateBackend;
import io.afterbay.flink.AfterbayStateBackend;
import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreSnapshot;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.function.UnaryOperator;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.junit.jupiter.api.Test;

/** A list of 3 GB (as a store says that tells lies about its size) and canonical savepoints. */
class CanonicalLimitTest {
    private static final long BYTES = 3L << 30;

    @Test
    void namesStateAndKeyGroup() throws Exception {
        try (Backends backends =
                new Backends(
                        new AfterbayStateBackend()
                                .withStores(options -> lying(StateStores.open(options))))) {
            AfterbayKeyedStateBackend<Integer> backend = backends.open(IntSerializer.INSTANCE);
            backend.setCurrentKey(1);
            backend.getPartitionedState(
                            VoidNamespace.INSTANCE,
                            VoidNamespaceSerializer.INSTANCE,
                            new ListStateDescriptor<>("huge", LongSerializer.INSTANCE))
                    .add(1L);
            int keyGroup = KeyGroupRangeAssignment.assignToKeyGroup(1, Backends.KEY_GROUPS);
            assertThatThrownBy(() -> Backends.canonicalSavepoint(backend))
                    .hasMessageContaining("state 'huge', key group " + keyGroup)
                    .hasMessageContaining(BYTES + " bytes")
                    .hasMessageContaining("--type native");
            assertThat(Backends.nativeSavepoint(backend)).isNotNull();
        }
    }

    private static StateStore lying(StateStore store) {
        return wrap(StateStore.class, store, "snapshot", (StoreSnapshot result) -> lying(result));
    }

    private static StoreSnapshot lying(StoreSnapshot snapshot) {
        return wrap(
                StoreSnapshot.class, snapshot, "entries", (EntryCursor result) -> lying(result));
    }

    private static EntryCursor lying(EntryCursor cursor) {
        return wrap(EntryCursor.class, cursor, "list", (ListReader result) -> lying(result));
    }

    private static ListReader lying(ListReader list) {
        return wrap(ListReader.class, list, "bytes", (Long bytes) -> BYTES);
    }

    /** The target, with one of its results changed. */
    @SuppressWarnings("unchecked")
    private static <T, R> T wrap(Class<T> type, T target, String name, UnaryOperator<R> change) {
        Object proxy =
                Proxy.newProxyInstance(
                        CanonicalLimitTest.class.getClassLoader(),
                        new Class<?>[] {type},
                        (self, method, arguments) -> {
                            try {
                                Object result = method.invoke(target, arguments);
                                return method.getName().equals(name)
                                        ? change.apply((R) result)
                                        : result;
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
        return (T) proxy;
    }
}
