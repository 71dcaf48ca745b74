package io.afterbay.replay;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.jspecify.annotations.Nullable;

/**
 * Splits in checkpoints, in this layout:
 *
 * <pre>
 *   id (UTF) | records (8) | newest time in ms (8) | has split (1) | its version (4) | its bytes
 * </pre>
 *
 * <p>A savepoint of the live job has its own splits where ours are expected. They say where the
 * live job is, which is no matter of the replay: they are read as counts of nothing.
 */
final class ReplaySplitSerializer<SplitT extends SourceSplit>
        implements SimpleVersionedSerializer<ReplaySplit<SplitT>> {
    private final SimpleVersionedSerializer<SplitT> splits;

    ReplaySplitSerializer(SimpleVersionedSerializer<SplitT> splits) {
        this.splits = splits;
    }

    @Override
    public int getVersion() {
        return Versions.NEWEST;
    }

    @Override
    public byte[] serialize(ReplaySplit<SplitT> split) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeUTF(split.splitId());
        out.writeLong(split.records());
        out.writeLong(split.newestMs());
        SplitT inner = split.split();
        out.writeBoolean(inner != null);
        if (inner != null) {
            out.writeInt(splits.getVersion());
            out.write(splits.serialize(inner));
        }
        return bytes.toByteArray();
    }

    @Override
    public ReplaySplit<SplitT> deserialize(int version, byte[] serialized) throws IOException {
        if (Versions.isOfAnotherSource(version)) {
            return ReplaySplit.count(ReplaySplit.newCountId(), 0, Long.MIN_VALUE);
        }
        Versions.requireKnown(version);
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(serialized));
        String id = in.readUTF();
        long records = in.readLong();
        long newestMs = in.readLong();
        @Nullable SplitT inner =
                in.readBoolean() ? splits.deserialize(in.readInt(), in.readAllBytes()) : null;
        return new ReplaySplit<>(id, inner, records, newestMs);
    }
}
