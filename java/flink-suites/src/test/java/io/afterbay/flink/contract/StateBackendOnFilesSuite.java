package io.afterbay.flink.contract;

import java.nio.file.Path;
import org.apache.flink.runtime.state.CheckpointStorage;
import org.apache.flink.runtime.state.storage.FileSystemCheckpointStorage;
import org.junit.jupiter.api.io.TempDir;

/** {@link StateBackendSuite} with checkpoints in files, none of them small enough to be inlined. */
public class StateBackendOnFilesSuite extends StateBackendSuite {
    @TempDir Path checkpoints;

    @Override
    protected CheckpointStorage getCheckpointStorage() {
        return new FileSystemCheckpointStorage(checkpoints.toUri(), 0);
    }
}
