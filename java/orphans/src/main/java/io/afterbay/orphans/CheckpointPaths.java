package io.afterbay.orphans;

import java.io.IOException;
import java.util.Collection;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;

/** Collects the files that a checkpoint refers to. */
@FunctionalInterface
public interface CheckpointPaths {
    /** All of them; one may come several times. */
    Collection<Path> of(CheckpointMetadata checkpoint) throws IOException;

    /** Of whatever handles the checkpoint consists. */
    static CheckpointPaths ofAllHandles() {
        return SerializedPaths::of;
    }
}
