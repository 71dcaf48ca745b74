package io.afterbay.workloads.nexmark.sql;

import io.afterbay.workloads.nexmark.Auction;
import io.afterbay.workloads.nexmark.Bid;
import io.afterbay.workloads.nexmark.Event;
import io.afterbay.workloads.nexmark.Person;
import java.util.List;
import java.util.Locale;

/** What a table holds; the names are values of the option {@code kind}. */
enum Kind {
    BID(Bid.class, Field.NUMBER, Field.AUCTION, Field.BIDDER, Field.PRICE, Field.EXTRA),
    AUCTION(Auction.class, Field.NUMBER, Field.ID, Field.SELLER),
    PERSON(Person.class, Field.NUMBER, Field.ID, Field.PROFILE);

    private final Class<? extends Event> type;
    private final List<Field> fields;

    Kind(Class<? extends Event> type, Field... fields) {
        this.type = type;
        this.fields = List.of(fields);
    }

    boolean holds(Event event) {
        return type.isInstance(event);
    }

    /** The fields beside the event time. */
    List<Field> fields() {
        return fields;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
