package io.afterbay.flink.snapshot;

import io.afterbay.flink.snapshot.RestoredStates.ElementTarget;
import io.afterbay.flink.snapshot.RestoredStates.KvTarget;
import io.afterbay.flink.snapshot.RestoredStates.Target;
import io.afterbay.store.ReadAlignment;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedBackendSerializationProxy;
import org.apache.flink.runtime.state.SnappyStreamCompressionDecorator;
import org.apache.flink.runtime.state.StreamCompressionDecorator;
import org.apache.flink.runtime.state.UncompressedStreamCompressionDecorator;

/** Restores from our own format, {@code spec/flink-snapshot.md}. */
final class NativeRestore<K> {
    private final RestoredStates restored;
    private final KeySerializerCheck<K> keySerializer;
    private final KeyGroupRange keyGroups;
    private final ClassLoader classLoader;

    NativeRestore(
            RestoredStates restored,
            KeySerializerCheck<K> keySerializer,
            KeyGroupRange keyGroups,
            ClassLoader classLoader) {
        this.restored = restored;
        this.keySerializer = keySerializer;
        this.keyGroups = keyGroups;
        this.classLoader = classLoader;
    }

    /** Whether the first bytes of a file are those of our format. */
    static boolean recognises(byte[] firstBytes) {
        return Arrays.equals(firstBytes, SnapshotFormat.MAGIC);
    }

    /**
     * @param in just behind the magic
     */
    void restore(KeyGroupsStateHandle handle, FSDataInputStream in) throws Exception {
        String source = String.valueOf(handle.getDelegateStateHandle());
        Table table = readTable(in, source);
        readKeyGroups(handle, in, source, table);
    }

    /**
     * What {@link SnapshotWriter#writeStates} wrote: registers the states, and takes in the
     * elements that are not in a store.
     *
     * @param written the key groups of the writer
     */
    List<Target> restoreStates(InputStream in, String source, KeyGroupRange written)
            throws Exception {
        if (!recognises(in.readNBytes(SnapshotFormat.MAGIC.length))) {
            throw damaged(source, "no table of states");
        }
        List<Target> targets = readTable(in, source).targets;
        if (targets.stream().anyMatch(ElementTarget.class::isInstance)) {
            KeyGroupReader reader = new KeyGroupReader(restored, targets);
            BlockReader blocks = new BlockReader(source);
            for (int keyGroup : written) {
                blocks.begin(in, keyGroup);
                if (keyGroups.contains(keyGroup)) {
                    reader.read(keyGroup, blocks);
                } else {
                    blocks.skip();
                }
            }
        }
        return targets;
    }

    /** The states of a snapshot, registered. */
    private record Table(List<Target> targets, boolean isCompressed) {}

    private Table readTable(InputStream in, String source) throws Exception {
        DataInputDeserializer meta = new DataInputDeserializer(readMeta(in, source));
        KeyedBackendSerializationProxy<K> proxy = new KeyedBackendSerializationProxy<>(classLoader);
        proxy.read(meta);
        keySerializer.check(proxy.getKeySerializerSnapshot());
        List<Target> targets = restored.register(proxy.getStateMetaInfoSnapshots());
        for (Target target : targets) {
            readLayout(target, meta);
        }
        return new Table(targets, proxy.isUsingKeyGroupCompression());
    }

    private static byte[] readMeta(InputStream in, String source) throws IOException {
        ByteBuffer header =
                ByteBuffer.wrap(
                        readFully(
                                in,
                                SnapshotFormat.HEADER_BYTES - SnapshotFormat.MAGIC.length,
                                source));
        int version = header.getInt();
        if (version > SnapshotFormat.VERSION || version < 1) {
            throw new IOException(
                    ("%s is in format %d of the Afterbay backend; this version reads formats up to %d."
                                    + " Restore it with the version that wrote it, or a newer one.")
                            .formatted(source, version, SnapshotFormat.VERSION));
        }
        int length = header.getInt();
        int checksum = header.getInt();
        if (length < 0 || length > SnapshotFormat.META_BYTES_MAX) {
            throw damaged(source, "meta data of " + length + " bytes");
        }
        byte[] meta = readFully(in, length, source);
        CRC32C crc = new CRC32C();
        crc.update(meta);
        if ((int) crc.getValue() != checksum) {
            throw damaged(source, "meta data whose checksum does not match");
        }
        return meta;
    }

    private static byte[] readFully(InputStream in, int length, String source) throws IOException {
        byte[] bytes = in.readNBytes(length);
        if (bytes.length < length) {
            throw damaged(source, "an end of the file in its meta data");
        }
        return bytes;
    }

    private static IOException damaged(String source, String what) {
        return new IOException(
                "%s: found %s. The file is damaged; restore from another checkpoint."
                        .formatted(source, what));
    }

    private static void readLayout(Target target, DataInputDeserializer meta) throws IOException {
        meta.readUnsignedByte(); // the shape, which follows from the state's type
        ReadAlignment alignment = SnapshotFormat.alignment(meta.readUnsignedByte());
        if (target instanceof KvTarget kv && alignment != null && kv.state().alignment() == null) {
            kv.state().setAlignment(alignment);
        }
    }

    private void readKeyGroups(
            KeyGroupsStateHandle handle, FSDataInputStream in, String source, Table table)
            throws IOException {
        StreamCompressionDecorator compression =
                table.isCompressed
                        ? SnappyStreamCompressionDecorator.INSTANCE
                        : UncompressedStreamCompressionDecorator.INSTANCE;
        KeyGroupReader reader = new KeyGroupReader(restored, table.targets);
        BlockReader blocks = new BlockReader(source);
        for (Tuple2<Integer, Long> group : handle.getGroupRangeOffsets()) {
            if (keyGroups.contains(group.f0)) {
                in.seek(group.f1);
                blocks.begin(compression.decorateWithCompression(in), group.f0);
                reader.read(group.f0, blocks);
            }
        }
    }
}
