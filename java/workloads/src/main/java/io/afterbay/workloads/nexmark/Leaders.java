package io.afterbay.workloads.nexmark;

import java.util.Arrays;
import java.util.Objects;

/** The auctions with the most bids so far, all with the same number of bids. Immutable. */
final class Leaders {
    static final Leaders NONE = new Leaders(0, new long[0]);

    private final long bids;
    private final long[] auctions;

    Leaders(long bids, long[] auctions) {
        this.bids = bids;
        this.auctions = auctions;
    }

    long bids() {
        return bids;
    }

    long[] auctions() {
        return auctions;
    }

    Leaders with(long auction, long auctionBids) {
        return with(new Leaders(auctionBids, new long[] {auction}));
    }

    Leaders with(Leaders other) {
        if (bids != other.bids) {
            return bids > other.bids ? this : other;
        }
        long[] both = Arrays.copyOf(auctions, auctions.length + other.auctions.length);
        System.arraycopy(other.auctions, 0, both, auctions.length, other.auctions.length);
        return new Leaders(bids, both);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Leaders leaders
                && bids == leaders.bids
                && Arrays.equals(auctions, leaders.auctions);
    }

    @Override
    public int hashCode() {
        return Objects.hash(bids, Arrays.hashCode(auctions));
    }
}
