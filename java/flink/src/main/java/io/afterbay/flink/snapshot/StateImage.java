package io.afterbay.flink.snapshot;

import io.afterbay.flink.state.StateShape;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.Slice;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueStateSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.jspecify.annotations.Nullable;

/**
 * One state of a snapshot.
 *
 * @param storeName its name in the store's snapshot; empty for {@link StateShape#ELEMENTS}
 * @param alignment of lists that were written to
 * @param ambiguous whether canonical keys need lengths, because key and namespace both vary in
 *     length
 * @param elements the content of {@link StateShape#ELEMENTS}
 */
record StateImage(
        String name,
        StateShape shape,
        String storeName,
        StateMetaInfoSnapshot metaInfo,
        @Nullable ReadAlignment alignment,
        boolean ambiguous,
        @Nullable Expiry expiry,
        @Nullable HeapPriorityQueueStateSnapshot<?> elements) {

    boolean expired(Slice value) {
        return expiry != null && expiry.expired(value);
    }
}
