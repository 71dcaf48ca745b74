package io.afterbay.workloads.nexmark;

import java.util.Arrays;

/** A bid: 84 bytes serialised, as the average of FlowKV's bids. */
public final class Bid implements Event {
    /** The text that comes with a bid: what is left of 84 bytes after four longs. */
    static final int EXTRA_BYTES = 52;

    private final long number;
    private final long auction;
    private final long bidder;
    private final long price;
    private final byte[] extra;

    /** The array belongs to the bid from here on. */
    Bid(long number, long auction, long bidder, long price, byte[] extra) {
        this.number = number;
        this.auction = auction;
        this.bidder = bidder;
        this.price = price;
        this.extra = extra;
    }

    @Override
    public long number() {
        return number;
    }

    public long auction() {
        return auction;
    }

    public long bidder() {
        return bidder;
    }

    /** In cents. */
    public long price() {
        return price;
    }

    /** Not to be changed. */
    public byte[] extra() {
        return extra;
    }

    /** Whether this bid wins over another: a higher price, or the same and earlier. */
    boolean beats(Bid other) {
        return price > other.price || price == other.price && number < other.number;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Bid bid
                && number == bid.number
                && auction == bid.auction
                && bidder == bid.bidder
                && price == bid.price
                && Arrays.equals(extra, bid.extra);
    }

    @Override
    public int hashCode() {
        return Long.hashCode(number);
    }

    @Override
    public String toString() {
        return "Bid[number=%d, auction=%d, bidder=%d, price=%d]"
                .formatted(number, auction, bidder, price);
    }
}
