package io.afterbay.flink.correctness;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory.MemoryCheckpointOutputStream;
import org.apache.flink.streaming.api.operators.StreamOperatorStateHandler;

/** Checkpoint streams that count what is written to them. No file is copied within the storage. */
final class CountingStreams implements CheckpointStreamFactory {
    private static final int STREAM_BYTES_MAX = 64 << 20;

    private long bytes;

    long bytes() {
        return bytes;
    }

    KeyedStateHandle canonicalSavepoint(AbstractKeyedStateBackend<String> backend)
            throws Exception {
        RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot =
                StreamOperatorStateHandler.prepareCanonicalSavepoint(
                                backend, new CloseableRegistry())
                        .snapshot(1, 1, this, Backends.savepoint(SavepointFormatType.CANONICAL));
        snapshot.run();
        return snapshot.get().getJobManagerOwnedSnapshot();
    }

    @Override
    public CheckpointStateOutputStream createCheckpointStateOutputStream(
            CheckpointedStateScope scope) {
        return new MemoryCheckpointOutputStream(STREAM_BYTES_MAX) {
            @Override
            public void write(int b) throws IOException {
                bytes++;
                super.write(b);
            }

            @Override
            public void write(byte[] b, int off, int len) throws IOException {
                bytes += len;
                super.write(b, off, len);
            }
        };
    }

    @Override
    public boolean canFastDuplicate(StreamStateHandle handle, CheckpointedStateScope scope) {
        return false;
    }

    @Override
    public List<StreamStateHandle> duplicate(
            List<StreamStateHandle> handles, CheckpointedStateScope scope) {
        throw new UnsupportedOperationException("canFastDuplicate says no");
    }
}
