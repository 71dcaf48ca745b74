package io.afterbay.flink.snapshot;

import io.afterbay.flink.state.KvState;
import io.afterbay.flink.state.StateContext;
import io.afterbay.flink.state.StateRegistry;
import io.afterbay.flink.state.StateShape;
import io.afterbay.flink.state.TtlFilter;
import io.afterbay.flink.timers.TimerState;
import io.afterbay.store.StoreSnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.CompositeKeySerializationUtils;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.SnapshotResources;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSnapshotRestoreWrapper;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;

/**
 * What the synchronous part of a snapshot holds on to: the frozen store and the meta data of all
 * states.
 *
 * @param states in the order of their numbers in the snapshot
 */
public record SnapshotContent<K>(
        StoreSnapshot store,
        List<StateImage> states,
        TypeSerializer<K> keySerializer,
        KeyGroupRange keyGroups,
        int totalKeyGroups)
        implements SnapshotResources {

    /** Freezes the present content. */
    public static <K> SnapshotContent<K> freeze(StateContext<K> context) {
        return of(context, context.store()::snapshot);
    }

    /** The states, and what of them is not in the store. */
    public static <K> SnapshotContent<K> withoutStore(StateContext<K> context) {
        return of(context, () -> NoEntries.INSTANCE);
    }

    private static <K> SnapshotContent<K> of(
            StateContext<K> context, Supplier<StoreSnapshot> store) {
        context.gate().pass();
        context.objects().writeBack();
        StateRegistry registry = context.registry();
        List<StateImage> states = new ArrayList<>();
        long now = context.ttlTime().currentTimestamp();
        registry.states().forEach(state -> states.add(image(state, context, now)));
        registry.timers().forEach(timers -> states.add(image(timers)));
        registry.heapQueues().values().forEach(queue -> states.add(image(queue)));
        return new SnapshotContent<>(
                store.get(),
                List.copyOf(states),
                context.keySerializer(),
                context.keyGroups(),
                context.totalKeyGroups());
    }

    private static StateImage image(KvState<?, ?> state, StateContext<?> context, long now) {
        TtlFilter ttl = state.ttl();
        return new StateImage(
                state.name(),
                state.shape(),
                state.storeName(),
                state.metaInfo().snapshot(),
                state.alignment(),
                CompositeKeySerializationUtils.isAmbiguousKeyPossible(
                        context.keySerializer(), state.metaInfo().getNamespaceSerializer()),
                ttl == null ? null : new Expiry(ttl, now),
                null);
    }

    private static StateImage image(TimerState<?, ?> timers) {
        return new StateImage(
                timers.name(),
                StateShape.TRIGGERS,
                timers.storeName(),
                timers.metaInfo().snapshot(),
                null,
                false,
                null,
                null);
    }

    private static StateImage image(HeapPriorityQueueSnapshotRestoreWrapper<?> queue) {
        return new StateImage(
                queue.getMetaInfo().getName(),
                StateShape.ELEMENTS,
                "",
                queue.getMetaInfo().snapshot(),
                null,
                false,
                null,
                queue.stateSnapshot());
    }

    /** The same without what is in the store, which stays open. */
    public SnapshotContent<K> withoutStore() {
        return new SnapshotContent<>(
                NoEntries.INSTANCE, states, keySerializer, keyGroups, totalKeyGroups);
    }

    /** Whether there is no state at all, not even one without entries. */
    public boolean isEmpty() {
        return states.isEmpty();
    }

    List<StateMetaInfoSnapshot> metaInfos() {
        return states.stream().map(StateImage::metaInfo).toList();
    }

    @Override
    public void release() {
        store.close();
    }
}
