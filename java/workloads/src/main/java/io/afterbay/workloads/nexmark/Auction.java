package io.afterbay.workloads.nexmark;

/**
 * A new auction: 16 bytes serialised.
 *
 * @param id from 0, in the order of the stream, so that it gives the event number
 * @param seller a person; below 0 are those who were there before the first event
 */
public record Auction(long id, long seller) implements Event {
    @Override
    public long number() {
        return Generator.numberOfAuction(id);
    }
}
