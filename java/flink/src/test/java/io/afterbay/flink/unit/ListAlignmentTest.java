package io.afterbay.flink.unit;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.flink.AfterbayKeyedStateBackend;
import io.afterbay.flink.AfterbayStateBackend;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which layout lists get, from what the operator registers. */
class ListAlignmentTest {
    private static final Map<String, ReadAlignment> ALIGNMENTS = new ConcurrentHashMap<>();

    private final Backends backends =
            new Backends(
                    new AfterbayStateBackend()
                            .withStores(options -> recording(StateStores.open(options))));

    private static StateStore recording(StateStore store) {
        return (StateStore)
                Proxy.newProxyInstance(
                        ListAlignmentTest.class.getClassLoader(),
                        new Class<?>[] {StateStore.class},
                        (proxy, method, arguments) -> {
                            if (method.getName().equals("lists")) {
                                ALIGNMENTS.put((String) arguments[0], (ReadAlignment) arguments[1]);
                            }
                            try {
                                return method.invoke(store, arguments);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
    }

    @BeforeEach
    void reset() {
        ALIGNMENTS.clear();
    }

    @AfterEach
    void close() throws Exception {
        backends.close();
    }

    private static ListState<Long> windowState(AfterbayKeyedStateBackend<Integer> backend)
            throws Exception {
        return backend.getPartitionedState(
                new TimeWindow(0, 10),
                new TimeWindow.Serializer(),
                new ListStateDescriptor<>("window-contents", LongSerializer.INSTANCE));
    }

    private static void registerMergingWindows(AfterbayKeyedStateBackend<Integer> backend)
            throws Exception {
        backend.getPartitionedState(
                VoidNamespace.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                new ListStateDescriptor<>("merging-window-set", LongSerializer.INSTANCE));
    }

    @Test
    void windowsAreAligned() throws Exception {
        AfterbayKeyedStateBackend<Integer> backend = backends.open(IntSerializer.INSTANCE);
        ListState<Long> state = windowState(backend);
        backend.setCurrentKey(1);
        assertThat(state.get()).isNull();
        assertThat(ALIGNMENTS).as("not decided before the first write").isEmpty();
        state.add(1L);
        assertThat(ALIGNMENTS).containsOnly(entry(ReadAlignment.ALIGNED));
        assertThat(state.get()).containsExactly(1L);
    }

    /** The window operator registers its window set after the state of the windows. */
    @Test
    void mergingWindowsAreNot() throws Exception {
        AfterbayKeyedStateBackend<Integer> backend = backends.open(IntSerializer.INSTANCE);
        ListState<Long> state = windowState(backend);
        registerMergingWindows(backend);
        backend.setCurrentKey(1);
        state.add(1L);
        assertThat(ALIGNMENTS).containsOnly(entry(ReadAlignment.UNALIGNED));
    }

    @Test
    void listsWithoutWindowAreNot() throws Exception {
        AfterbayKeyedStateBackend<Integer> backend = backends.open(IntSerializer.INSTANCE);
        backend.setCurrentKey(1);
        backend.getPartitionedState(
                        VoidNamespace.INSTANCE,
                        VoidNamespaceSerializer.INSTANCE,
                        new ListStateDescriptor<>("window-contents", LongSerializer.INSTANCE))
                .add(1L);
        assertThat(ALIGNMENTS).containsOnly(entry(ReadAlignment.UNALIGNED));
    }

    @Test
    void checkpointsKeepTheLayout() throws Exception {
        AfterbayKeyedStateBackend<Integer> first = backends.open(IntSerializer.INSTANCE);
        first.setCurrentKey(1);
        windowState(first).add(1L);
        registerMergingWindows(first);
        KeyedStateHandle handle = Backends.checkpoint(first);
        ALIGNMENTS.clear();
        AfterbayKeyedStateBackend<Integer> second = backends.open(IntSerializer.INSTANCE, handle);
        second.setCurrentKey(1);
        assertThat(windowState(second).get()).containsExactly(1L);
        assertThat(ALIGNMENTS).containsOnly(entry(ReadAlignment.ALIGNED));
    }

    @Test
    void canonicalSavepointsAreInferredAnew() throws Exception {
        AfterbayKeyedStateBackend<Integer> first = backends.open(IntSerializer.INSTANCE);
        first.setCurrentKey(1);
        windowState(first).add(1L);
        registerMergingWindows(first);
        KeyedStateHandle handle = Backends.canonicalSavepoint(first);
        ALIGNMENTS.clear();
        AfterbayKeyedStateBackend<Integer> second = backends.open(IntSerializer.INSTANCE, handle);
        second.setCurrentKey(1);
        assertThat(windowState(second).get()).containsExactly(1L);
        assertThat(ALIGNMENTS).containsOnly(entry(ReadAlignment.UNALIGNED));
    }

    private static Map.Entry<String, ReadAlignment> entry(ReadAlignment alignment) {
        return Map.entry("state/window-contents", alignment);
    }
}
