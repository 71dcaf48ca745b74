package io.afterbay.workloads.nexmark;

/** What happens in the auction house. All kinds are immutable. */
public sealed interface Event permits Bid, Auction, Person {
    /** Position in the stream, from 0; it decides on the event time. */
    long number();
}
