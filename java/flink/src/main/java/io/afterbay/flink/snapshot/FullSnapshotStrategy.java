package io.afterbay.flink.snapshot;

import java.io.IOException;
import java.util.function.Supplier;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointStreamWithResultProvider;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.SnapshotStrategy;
import org.apache.flink.runtime.state.StreamCompressionDecorator;

/**
 * Writes full checkpoints and native savepoints in our own format, {@code spec/flink-snapshot.md}.
 */
public final class FullSnapshotStrategy<K>
        implements SnapshotStrategy<KeyedStateHandle, SnapshotContent<K>> {
    private final Supplier<SnapshotContent<K>> freeze;
    private final StreamCompressionDecorator compression;
    private final LocalRecoveryConfig localRecovery;

    public FullSnapshotStrategy(
            Supplier<SnapshotContent<K>> freeze,
            StreamCompressionDecorator compression,
            LocalRecoveryConfig localRecovery) {
        this.freeze = freeze;
        this.compression = compression;
        this.localRecovery = localRecovery;
    }

    @Override
    public SnapshotContent<K> syncPrepareResources(long checkpointId) {
        return freeze.get();
    }

    @Override
    public SnapshotResultSupplier<KeyedStateHandle> asyncSnapshot(
            SnapshotContent<K> content,
            long checkpointId,
            long timestamp,
            CheckpointStreamFactory streamFactory,
            CheckpointOptions checkpointOptions) {
        if (content.isEmpty()) {
            return registry -> SnapshotResult.empty();
        }
        boolean local =
                localRecovery.isLocalBackupEnabled()
                        && !checkpointOptions.getCheckpointType().isSavepoint();
        return registry -> {
            CheckpointStreamWithResultProvider stream =
                    local
                            ? duplicatingStream(checkpointId, streamFactory)
                            : CheckpointStreamWithResultProvider.createSimpleStream(
                                    CheckpointedStateScope.EXCLUSIVE, streamFactory);
            return write(content, stream, registry);
        };
    }

    private CheckpointStreamWithResultProvider duplicatingStream(
            long checkpointId, CheckpointStreamFactory streamFactory) throws IOException {
        return CheckpointStreamWithResultProvider.createDuplicatingStream(
                checkpointId,
                CheckpointedStateScope.EXCLUSIVE,
                streamFactory,
                localRecovery
                        .getLocalStateDirectoryProvider()
                        .orElseThrow(LocalRecoveryConfig.localRecoveryNotEnabled()));
    }

    private SnapshotResult<KeyedStateHandle> write(
            SnapshotContent<K> content,
            CheckpointStreamWithResultProvider stream,
            CloseableRegistry registry)
            throws IOException {
        registry.registerCloseable(stream);
        KeyGroupRangeOffsets offsets =
                new SnapshotWriter<>(content, compression)
                        .write(stream.getCheckpointOutputStream());
        if (!registry.unregisterCloseable(stream)) {
            throw new IOException(
                    "the stream of the snapshot was closed: the snapshot is cancelled");
        }
        return CheckpointStreamWithResultProvider.toKeyedStateHandleSnapshotResult(
                stream.closeAndFinalizeCheckpointStreamResult(),
                offsets,
                KeyGroupsStateHandle::new);
    }
}
