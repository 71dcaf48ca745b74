package io.afterbay.flink.incremental;

import io.afterbay.flink.snapshot.SnapshotContent;
import java.util.Map;
import org.apache.flink.runtime.state.SnapshotResources;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * What the synchronous part of an incremental checkpoint holds on to.
 *
 * @param states with the frozen store if a base is to be written, else without
 * @param reusable files of the confirmed checkpoint that may be referred to, by name
 */
record IncrementalContent<K>(
        CheckpointFiles checkpoint,
        SnapshotContent<K> states,
        Map<String, StreamStateHandle> reusable)
        implements SnapshotResources {

    @Override
    public void release() {
        states.release();
    }
}
