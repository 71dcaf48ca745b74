package io.afterbay.flink.snapshot;

import io.afterbay.flink.state.StateShape;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;
import org.apache.flink.runtime.state.KeyedBackendSerializationProxy;
import org.apache.flink.runtime.state.StreamCompressionDecorator;
import org.apache.flink.runtime.state.UncompressedStreamCompressionDecorator;

/** Writes the content of a snapshot in our own format, {@code spec/flink-snapshot.md}. */
public final class SnapshotWriter<K> {
    private final SnapshotContent<K> content;
    private final StreamCompressionDecorator compression;

    public SnapshotWriter(SnapshotContent<K> content, StreamCompressionDecorator compression) {
        this.content = content;
        this.compression = compression;
    }

    /** Writes all of it; returns where each key group begins. */
    KeyGroupRangeOffsets write(CheckpointStateOutputStream out) throws IOException {
        writeHeader(out);
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

    /**
     * Writes the states of {@link SnapshotContent#withoutStore}, uncompressed: a header, and the
     * key groups if there are elements outside of the store.
     */
    public static void writeStates(SnapshotContent<?> content, OutputStream out)
            throws IOException {
        SnapshotWriter<?> snapshot =
                new SnapshotWriter<>(content, UncompressedStreamCompressionDecorator.INSTANCE);
        snapshot.writeHeader(out);
        if (content.states().stream().anyMatch(state -> state.shape() == StateShape.ELEMENTS)) {
            snapshot.writeKeyGroups(out);
        }
    }

    private void writeKeyGroups(OutputStream out) throws IOException {
        KeyGroupWriter writer = new KeyGroupWriter(content);
        BlockWriter blocks = new BlockWriter();
        for (int keyGroup : content.keyGroups()) {
            blocks.begin(out, keyGroup);
            writer.write(keyGroup, blocks);
        }
    }

    private void writeHeader(OutputStream out) throws IOException {
        byte[] meta = metaData();
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

    private byte[] metaData() throws IOException {
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
