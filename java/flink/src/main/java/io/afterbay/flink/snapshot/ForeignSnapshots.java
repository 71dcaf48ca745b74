package io.afterbay.flink.snapshot;

import java.io.IOException;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;

/** Names what cannot be restored, and the way around. */
final class ForeignSnapshots {
    private static final String WAY_OUT =
            " Start the job once with the backend that wrote it, take a savepoint in canonical format"
                    + " (flink savepoint --type canonical), and restore that with the Afterbay backend.";

    private ForeignSnapshots() {}

    /** Not the handle's own text: RocksDB's lists every file, and buries what to do. */
    static IOException refuse(KeyedStateHandle handle) {
        return new IOException(
                "the Afterbay backend cannot restore %s (%s, key groups %d to %d)."
                                .formatted(
                                        kind(handle),
                                        handle.getClass().getSimpleName(),
                                        handle.getKeyGroupRange().getStartKeyGroup(),
                                        handle.getKeyGroupRange().getEndKeyGroup())
                        + WAY_OUT);
    }

    private static String kind(KeyedStateHandle handle) {
        if (handle instanceof ChangelogStateBackendHandle) {
            return "a checkpoint that was written with state.changelog.enabled: true";
        }
        if (handle instanceof IncrementalKeyedStateHandle) {
            return "a checkpoint or native savepoint of the RocksDB or ForSt backend";
        }
        if (handle instanceof KeyGroupsStateHandle) {
            return "a checkpoint or native savepoint of the HashMap backend";
        }
        return "a snapshot of kind " + handle.getClass().getName();
    }
}
