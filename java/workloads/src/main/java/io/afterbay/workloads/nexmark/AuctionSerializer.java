package io.afterbay.workloads.nexmark;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Two longs: 16 bytes. */
public final class AuctionSerializer extends ImmutableSerializer<Auction> {
    static final int BYTES = 2 * Long.BYTES;

    private static final long serialVersionUID = 1;

    @Override
    public Auction createInstance() {
        return new Auction(0, 0);
    }

    @Override
    public int getLength() {
        return BYTES;
    }

    @Override
    public void serialize(Auction auction, DataOutputView target) throws IOException {
        target.writeLong(auction.id());
        target.writeLong(auction.seller());
    }

    @Override
    public Auction deserialize(DataInputView source) throws IOException {
        return new Auction(source.readLong(), source.readLong());
    }

    @Override
    public TypeSerializerSnapshot<Auction> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The format has one version. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<Auction> {
        public Snapshot() {
            super(AuctionSerializer::new);
        }
    }
}
