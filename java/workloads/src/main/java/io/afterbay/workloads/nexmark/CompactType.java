package io.afterbay.workloads.nexmark;

import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/** Type information of the classes that have a serializer of their own here. */
final class CompactType<T> extends TypeInformation<T> {
    static final CompactType<Event> EVENT = new CompactType<>(Event.class, new EventSerializer());
    static final CompactType<Bid> BID = new CompactType<>(Bid.class, new BidSerializer());
    static final CompactType<Auction> AUCTION =
            new CompactType<>(Auction.class, new AuctionSerializer());
    static final CompactType<Person> PERSON =
            new CompactType<>(Person.class, new PersonSerializer());
    static final CompactType<Answer> ANSWER =
            new CompactType<>(Answer.class, new AnswerSerializer());
    static final CompactType<Leaders> LEADERS =
            new CompactType<>(Leaders.class, new LeadersSerializer());

    private static final long serialVersionUID = 1;

    private final Class<T> type;
    private final TypeSerializer<T> serializer;

    private CompactType(Class<T> type, TypeSerializer<T> serializer) {
        this.type = type;
        this.serializer = serializer;
    }

    @Override
    public TypeSerializer<T> createSerializer(SerializerConfig config) {
        return serializer;
    }

    @Override
    public Class<T> getTypeClass() {
        return type;
    }

    @Override
    public boolean isBasicType() {
        return false;
    }

    @Override
    public boolean isTupleType() {
        return false;
    }

    @Override
    public boolean isKeyType() {
        return false;
    }

    @Override
    public int getArity() {
        return 1;
    }

    @Override
    public int getTotalFields() {
        return 1;
    }

    @Override
    public String toString() {
        return type.getSimpleName();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CompactType<?> that && type == that.type;
    }

    @Override
    public int hashCode() {
        return type.hashCode();
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof CompactType<?>;
    }
}
