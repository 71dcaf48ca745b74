package io.afterbay.workloads.nexmark;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Four longs and the text: 84 bytes. */
public final class BidSerializer extends ImmutableSerializer<Bid> {
    static final int BYTES = 4 * Long.BYTES + Bid.EXTRA_BYTES;

    private static final long serialVersionUID = 1;

    @Override
    public Bid createInstance() {
        return new Bid(0, 0, 0, 0, new byte[Bid.EXTRA_BYTES]);
    }

    @Override
    public int getLength() {
        return BYTES;
    }

    @Override
    public void serialize(Bid bid, DataOutputView target) throws IOException {
        target.writeLong(bid.number());
        target.writeLong(bid.auction());
        target.writeLong(bid.bidder());
        target.writeLong(bid.price());
        target.write(bid.extra());
    }

    @Override
    public Bid deserialize(DataInputView source) throws IOException {
        long number = source.readLong();
        long auction = source.readLong();
        long bidder = source.readLong();
        long price = source.readLong();
        byte[] extra = new byte[Bid.EXTRA_BYTES];
        source.readFully(extra);
        return new Bid(number, auction, bidder, price, extra);
    }

    @Override
    public TypeSerializerSnapshot<Bid> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The format has one version. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<Bid> {
        public Snapshot() {
            super(BidSerializer::new);
        }
    }
}
