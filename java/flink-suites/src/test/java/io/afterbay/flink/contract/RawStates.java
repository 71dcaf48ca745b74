package io.afterbay.flink.contract;

import java.lang.reflect.Field;
import org.apache.flink.queryablestate.client.state.serialization.KvStateSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.heap.HeapKeyedStateBackend;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.runtime.state.ttl.StateBackendTestContext;
import org.apache.flink.runtime.state.ttl.TtlStateTestBase;
import org.apache.flink.runtime.state.ttl.TtlStateTestContextBase;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;

/**
 * What Flink's suites read out of HashMap's tables, asked of any other backend. Null where the
 * backend is HashMap's, whose answer the suite then gets by itself.
 */
public final class RawStates {
    private RawStates() {}

    /** The number of (key, namespace) entries of all states. */
    public static Integer entries(Object harness) {
        KeyedStateBackend<?> backend =
                ((AbstractStreamOperatorTestHarness<?>) harness)
                        .getOperator()
                        .getKeyedStateBackend();
        return backend instanceof HeapKeyedStateBackend
                ? null
                : ((AbstractKeyedStateBackend<?>) backend).numKeyValueStateEntries();
    }

    /** Whether there is no value, expired or not, under the current key and namespace. */
    public static Boolean originalCleared(Object suite) {
        try {
            StateBackendTestContext backends =
                    (StateBackendTestContext) read(suite, TtlStateTestBase.class, "sbetc");
            CheckpointableKeyedStateBackend<String> backend = backends.getKeyedStateBackend();
            return backend instanceof HeapKeyedStateBackend
                    ? null
                    : isAbsent(((TtlStateTestBase) suite).ctx, backend.getCurrentKey());
        } catch (Exception e) {
            throw new AssertionError("the suite has changed its shape", e);
        }
    }

    private static boolean isAbsent(TtlStateTestContextBase<?, ?, ?> context, String key)
            throws Exception {
        Object ttlState = read(context, TtlStateTestContextBase.class, "ttlState");
        Class<?> decorator =
                Class.forName("org.apache.flink.runtime.state.ttl.AbstractTtlDecorator");
        @SuppressWarnings("unchecked")
        InternalKvState<String, String, Object> original =
                (InternalKvState<String, String, Object>) read(ttlState, decorator, "original");
        String namespace =
                (String) read(context, TtlStateTestContextBase.class, "currentNamespace");
        byte[] address =
                KvStateSerializer.serializeKeyAndNamespace(
                        key,
                        original.getKeySerializer(),
                        namespace,
                        original.getNamespaceSerializer());
        return original.getSerializedValue(
                        address,
                        original.getKeySerializer(),
                        original.getNamespaceSerializer(),
                        original.getValueSerializer())
                == null;
    }

    private static Object read(Object owner, Class<?> type, String name) throws Exception {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(owner);
    }
}
