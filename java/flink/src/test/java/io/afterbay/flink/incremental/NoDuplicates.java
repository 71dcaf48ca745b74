package io.afterbay.flink.incremental;

import java.util.List;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.StreamStateHandle;

/** A storage of a test, which copies no files within itself: nobody asks it to. */
interface NoDuplicates extends CheckpointStreamFactory {
    @Override
    default boolean canFastDuplicate(StreamStateHandle handle, CheckpointedStateScope scope) {
        return false;
    }

    @Override
    default List<StreamStateHandle> duplicate(
            List<StreamStateHandle> handles, CheckpointedStateScope scope) {
        throw new UnsupportedOperationException("canFastDuplicate says no");
    }
}
