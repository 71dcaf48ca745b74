package io.afterbay.workloads.nexmark.sql;

import io.afterbay.workloads.nexmark.Auction;
import io.afterbay.workloads.nexmark.Bid;
import io.afterbay.workloads.nexmark.Event;
import io.afterbay.workloads.nexmark.Person;
import java.util.Locale;
import java.util.Set;
import java.util.function.BiFunction;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.LogicalTypeRoot;

/** A column: its name, type, and value in Flink's internal form. */
enum Field {
    NUMBER("BIGINT", (event, millis) -> event.number(), LogicalTypeRoot.BIGINT),
    AUCTION("BIGINT", (event, millis) -> ((Bid) event).auction(), LogicalTypeRoot.BIGINT),
    BIDDER("BIGINT", (event, millis) -> ((Bid) event).bidder(), LogicalTypeRoot.BIGINT),
    PRICE("BIGINT", (event, millis) -> ((Bid) event).price(), LogicalTypeRoot.BIGINT),
    EXTRA(
            "BYTES",
            (event, millis) -> ((Bid) event).extra(),
            LogicalTypeRoot.VARBINARY,
            LogicalTypeRoot.BINARY),
    ID("BIGINT", (event, millis) -> id(event), LogicalTypeRoot.BIGINT),
    SELLER("BIGINT", (event, millis) -> ((Auction) event).seller(), LogicalTypeRoot.BIGINT),
    PROFILE("BIGINT", (event, millis) -> ((Person) event).profile(), LogicalTypeRoot.BIGINT),
    EVENT_TIME(
            "TIMESTAMP(3) or TIMESTAMP_LTZ(3)",
            (event, millis) -> TimestampData.fromEpochMillis(millis),
            LogicalTypeRoot.TIMESTAMP_WITHOUT_TIME_ZONE,
            LogicalTypeRoot.TIMESTAMP_WITH_LOCAL_TIME_ZONE);

    private final String sqlType;
    private final BiFunction<Event, Long, Object> value;
    private final Set<LogicalTypeRoot> roots;

    Field(String sqlType, BiFunction<Event, Long, Object> value, LogicalTypeRoot... roots) {
        this.sqlType = sqlType;
        this.value = value;
        this.roots = Set.of(roots);
    }

    private static long id(Event event) {
        return event instanceof Auction auction ? auction.id() : ((Person) event).id();
    }

    boolean accepts(LogicalTypeRoot root) {
        return roots.contains(root);
    }

    Object of(Event event, long millis) {
        return value.apply(event, millis);
    }

    /** As users write it. */
    String column() {
        return name().toLowerCase(Locale.ROOT);
    }

    @Override
    public String toString() {
        return column() + " " + sqlType;
    }
}
