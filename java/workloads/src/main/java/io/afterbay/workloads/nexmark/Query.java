package io.afterbay.workloads.nexmark;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.flink.streaming.api.datastream.DataStream;

/**
 * The eight NEXMark queries of FlowKV (EuroSys '23, section 6) that keep state in windows, with the
 * way in which each uses its state: read-modify-write, or append and read in alignment with the
 * window or at each key's own time.
 */
public enum Query {
    /** Sliding windows: the auctions with the most bids; both steps fold. Read-modify-write. */
    Q5("q5", Plans::q5, References::hottestAuctions, "window_end_ms", "auction", "bids"),
    /** As q5, but the second step reads a list. Read-modify-write; append, aligned. */
    Q5_APPEND(
            "q5-append",
            Plans::q5Append,
            References::hottestAuctions,
            "window_end_ms",
            "auction",
            "bids"),
    /** Tumbling windows: the highest bid of each bidder, from the list. Append, aligned. */
    Q7("q7", Plans::q7, References::highestBids, "window_end_ms", "bidder", "price", "auction"),
    /** Session windows: the highest bid of each bidder, from the list. Append, unaligned. */
    Q7_SESSION(
            "q7-session",
            Plans::q7Session,
            References::highestBidsOfSessions,
            "session_start_ms",
            "session_end_ms",
            "bidder",
            "price",
            "auction"),
    /** Tumbling windows: who registered and opened an auction in one window. Append, aligned. */
    Q8("q8", Plans::q8, References::newSellers, "window_end_ms", "person", "auction"),
    /** Session windows: bids of each bidder. Read-modify-write. */
    Q11(
            "q11",
            Plans::q11,
            References::sessionCounts,
            "session_start_ms",
            "session_end_ms",
            "bidder",
            "bids"),
    /** Session windows: the (lower) median price of each bidder's bids. Append, unaligned. */
    Q11_MEDIAN(
            "q11-median",
            Plans::q11Median,
            References::sessionMedians,
            "session_start_ms",
            "session_end_ms",
            "bidder",
            "median_price"),
    /** One window for all time: bids of each bidder, at every 100th. Read-modify-write. */
    Q12("q12", Plans::q12, References::everyHundredth, "bidder", "bids");

    private interface Plan {
        DataStream<Answer> build(DataStream<Event> events, NexmarkOptions options);
    }

    private final String label;
    private final Plan plan;
    private final Reference reference;
    private final List<String> columns;

    Query(String label, Plan plan, Reference reference, String... columns) {
        this.label = label;
        this.plan = plan;
        this.reference = reference;
        this.columns = List.of(columns);
    }

    /** The query of a name as users write it. */
    public static Optional<Query> named(String label) {
        return Arrays.stream(values()).filter(query -> query.label.equals(label)).findFirst();
    }

    /** All names, for messages. */
    public static String names() {
        return Arrays.stream(values()).map(Query::toString).collect(Collectors.joining(", "));
    }

    /** The names of the values of an {@link Answer}. */
    public List<String> columns() {
        return columns;
    }

    String header() {
        return String.join(",", columns);
    }

    DataStream<Answer> build(DataStream<Event> events, NexmarkOptions options) {
        return plan.build(events, options);
    }

    Reference reference() {
        return reference;
    }

    @Override
    public String toString() {
        return label;
    }
}
