package io.afterbay.workloads.nexmark;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** The bids, the number of auctions, and the auctions. */
public final class LeadersSerializer extends ImmutableSerializer<Leaders> {
    private static final long serialVersionUID = 1;

    @Override
    public Leaders createInstance() {
        return Leaders.NONE;
    }

    @Override
    public void serialize(Leaders leaders, DataOutputView target) throws IOException {
        target.writeLong(leaders.bids());
        target.writeInt(leaders.auctions().length);
        for (long auction : leaders.auctions()) {
            target.writeLong(auction);
        }
    }

    @Override
    public Leaders deserialize(DataInputView source) throws IOException {
        long bids = source.readLong();
        long[] auctions = new long[source.readInt()];
        for (int i = 0; i < auctions.length; i++) {
            auctions[i] = source.readLong();
        }
        return new Leaders(bids, auctions);
    }

    @Override
    public TypeSerializerSnapshot<Leaders> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The format has one version. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<Leaders> {
        public Snapshot() {
            super(LeadersSerializer::new);
        }
    }
}
