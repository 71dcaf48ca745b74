package io.afterbay.replay;

import io.afterbay.replay.ReplayEnumeratorState.Count;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.jspecify.annotations.Nullable;

/**
 * The enumerator's part of a checkpoint, in this layout:
 *
 * <pre>
 *   replay (UTF), empty if it begins anew | have all ended (1)
 *   | number of counts (4) | each: id (UTF), records (8), is final (1)
 *   | has checkpoint (1) | its version (4) | its bytes
 * </pre>
 *
 * <p>The live job's, from a savepoint, is read as that of a replay that begins anew.
 */
final class ReplayEnumeratorStateSerializer<EnumT>
        implements SimpleVersionedSerializer<ReplayEnumeratorState<EnumT>> {
    private final SimpleVersionedSerializer<EnumT> checkpoints;

    ReplayEnumeratorStateSerializer(SimpleVersionedSerializer<EnumT> checkpoints) {
        this.checkpoints = checkpoints;
    }

    @Override
    public int getVersion() {
        return Versions.NEWEST;
    }

    @Override
    public byte[] serialize(ReplayEnumeratorState<EnumT> state) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        String replay = state.replay();
        out.writeUTF(replay == null ? "" : replay);
        out.writeBoolean(state.haveAllEnded());
        out.writeInt(state.counts().size());
        for (Map.Entry<String, Count> count : state.counts().entrySet()) {
            out.writeUTF(count.getKey());
            out.writeLong(count.getValue().records());
            out.writeBoolean(count.getValue().isFinal());
        }
        EnumT checkpoint = state.checkpoint();
        out.writeBoolean(checkpoint != null);
        if (checkpoint != null) {
            out.writeInt(checkpoints.getVersion());
            out.write(checkpoints.serialize(checkpoint));
        }
        return bytes.toByteArray();
    }

    @Override
    public ReplayEnumeratorState<EnumT> deserialize(int version, byte[] serialized)
            throws IOException {
        if (Versions.isOfAnotherSource(version)) {
            return ReplayEnumeratorState.anew();
        }
        Versions.requireKnown(version);
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(serialized));
        String replay = in.readUTF();
        boolean haveAllEnded = in.readBoolean();
        Map<String, Count> counts = new HashMap<>();
        for (int left = in.readInt(); left > 0; left--) {
            counts.put(in.readUTF(), new Count(in.readLong(), in.readBoolean()));
        }
        @Nullable EnumT checkpoint =
                in.readBoolean() ? checkpoints.deserialize(in.readInt(), in.readAllBytes()) : null;
        return new ReplayEnumeratorState<>(
                checkpoint, counts, haveAllEnded, replay.isEmpty() ? null : replay);
    }
}
