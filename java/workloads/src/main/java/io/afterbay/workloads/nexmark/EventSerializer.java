package io.afterbay.workloads.nexmark;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** The kind in one byte, then the event. The queries pick a kind before anything is serialised. */
public final class EventSerializer extends ImmutableSerializer<Event> {
    private static final long serialVersionUID = 1;
    private static final int BID = 0;
    private static final int AUCTION = 1;
    private static final int PERSON = 2;

    private final BidSerializer bids = new BidSerializer();
    private final AuctionSerializer auctions = new AuctionSerializer();
    private final PersonSerializer persons = new PersonSerializer();

    @Override
    public Event createInstance() {
        return persons.createInstance();
    }

    @Override
    public void serialize(Event event, DataOutputView target) throws IOException {
        if (event instanceof Bid bid) {
            target.writeByte(BID);
            bids.serialize(bid, target);
        } else if (event instanceof Auction auction) {
            target.writeByte(AUCTION);
            auctions.serialize(auction, target);
        } else {
            target.writeByte(PERSON);
            persons.serialize((Person) event, target);
        }
    }

    @Override
    public Event deserialize(DataInputView source) throws IOException {
        int kind = source.readByte();
        return switch (kind) {
            case BID -> bids.deserialize(source);
            case AUCTION -> auctions.deserialize(source);
            case PERSON -> persons.deserialize(source);
            default -> throw new IOException("event of unknown kind " + kind);
        };
    }

    @Override
    public TypeSerializerSnapshot<Event> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The format has one version. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<Event> {
        public Snapshot() {
            super(EventSerializer::new);
        }
    }
}
