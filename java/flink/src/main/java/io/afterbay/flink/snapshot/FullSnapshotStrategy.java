package io.afterbay.flink.snapshot;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.function.Supplier;
import java.util.zip.CRC32C;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointStreamWithResultProvider;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedBackendSerializationProxy;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.SnapshotStrategy;
import org.apache.flink.runtime.state.StreamCompressionDecorator;
import org.apache.flink.runtime.state.UncompressedStreamCompressionDecorator;

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
        if (content.states().isEmpty()) {
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
        KeyGroupRangeOffsets offsets = write(content, stream.getCheckpointOutputStream());
        if (!registry.unregisterCloseable(stream)) {
            throw new IOException(
                    "the stream of the snapshot was closed: the snapshot is cancelled");
        }
        return CheckpointStreamWithResultProvider.toKeyedStateHandleSnapshotResult(
                stream.closeAndFinalizeCheckpointStreamResult(),
                offsets,
                KeyGroupsStateHandle::new);
    }

    private KeyGroupRangeOffsets write(SnapshotContent<K> content, CheckpointStateOutputStream out)
            throws IOException {
        writeHeader(content, out);
        KeyGroupRangeOffsets offsets = new KeyGroupRangeOffsets(content.keyGroups());
        KeyGroupWriter writer = new KeyGroupWriter(content);
        BlockWriter blocks = new BlockWriter();
        for (int keyGroup : content.keyGroups()) {
            offsets.setKeyGroupOffset(keyGroup, out.getPos());
            try (OutputStream compressed = compression.decorateWithCompression(out)) {
                blocks.begin(compressed, keyGroup);
                writer.write(keyGroup, blocks);
            }
        }
        return offsets;
    }

    private void writeHeader(SnapshotContent<K> content, OutputStream out) throws IOException {
        byte[] meta = metaData(content);
        CRC32C crc = new CRC32C();
        crc.update(meta);
        ByteBuffer header =
                ByteBuffer.allocate(SnapshotFormat.HEADER_BYTES)
                        .put(SnapshotFormat.MAGIC)
                        .putInt(SnapshotFormat.VERSION)
                        .putInt(meta.length)
                        .putInt((int) crc.getValue());
        out.write(header.array());
        out.write(meta);
    }

    private byte[] metaData(SnapshotContent<K> content) throws IOException {
        DataOutputSerializer meta = new DataOutputSerializer(1024);
        boolean compressed = !UncompressedStreamCompressionDecorator.INSTANCE.equals(compression);
        new KeyedBackendSerializationProxy<>(
                        content.keySerializer(), content.metaInfos(), compressed)
                .write(meta);
        for (StateImage state : content.states()) {
            meta.writeByte(state.shape().code());
            meta.writeByte(SnapshotFormat.code(state.alignment()));
        }
        return meta.getCopyOfBuffer();
    }
}
