package io.afterbay.workloads.nexmark;

import java.io.Serializable;
import java.util.concurrent.TimeUnit;

/**
 * The stream as a function of the event number: event {@code n} is the same in every run, on every
 * machine, from wherever a run starts.
 *
 * <pre>
 *   n mod 50:   0        1  2  3     4 ... 49
 *   kind:       person   auctions    bids
 * </pre>
 *
 * <p>Persons and auctions are active for a while: a bid names one of the last {@code activeKeys} of
 * both. As in NEXMark some are hot: every second bid goes to the hot auction of the moment, every
 * fourth bid comes from the hot bidder of the moment, and every second seller registered recently.
 * Those who were active before the first event have negative ids, so the set of keys has its full
 * size from the beginning.
 *
 * @param seed of everything that is random
 * @param interEventMicros event time between two events
 * @param activeKeys how many persons, and how many auctions, are active at a time
 */
public record Generator(long seed, long interEventMicros, long activeKeys) implements Serializable {
    static final int CYCLE = 50;
    static final int AUCTIONS_PER_CYCLE = 3;

    private static final int BIDS_PER_HOT_AUCTION = 2;
    private static final int BIDS_PER_HOT_BIDDER = 4;
    private static final int AUCTIONS_PER_RECENT_SELLER = 2;

    /** One of so many persons or auctions becomes the hot one, until the next does. */
    private static final int HOT_EVERY = 100;

    private static final int RECENT_PERSONS = 100;
    private static final long PRICE_MAX = 1_000_000;

    /** Weyl increment and mixing constants of SplitMix64 (Steele, Lea, Flood, OOPSLA '14). */
    private static final long GAMMA = 0x9E3779B97F4A7C15L;

    /** Random numbers that one event can use. */
    private static final long DRAWS = 16;

    /** Milliseconds of event time, from 0. */
    public long timeMillis(long number) {
        return TimeUnit.MICROSECONDS.toMillis(number * interEventMicros);
    }

    /** How long a stream can be before its time overflows. */
    public long eventsMax() {
        return Long.MAX_VALUE / 4 / interEventMicros;
    }

    /** The first event at or after a time. */
    public long firstAtOrAfter(long millis) {
        long micros = TimeUnit.MILLISECONDS.toMicros(Math.max(0, millis));
        return (micros + interEventMicros - 1) / interEventMicros;
    }

    /** The event at a position of the stream. */
    public Event event(long number) {
        long cycle = number / CYCLE;
        int place = (int) (number % CYCLE);
        if (place == 0) {
            return new Person(cycle, random(number, 0));
        }
        if (place <= AUCTIONS_PER_CYCLE) {
            return new Auction(cycle * AUCTIONS_PER_CYCLE + place - 1, seller(number, cycle));
        }
        return bid(number, cycle);
    }

    static long numberOfPerson(long id) {
        return id * CYCLE;
    }

    static long numberOfAuction(long id) {
        return id / AUCTIONS_PER_CYCLE * CYCLE + id % AUCTIONS_PER_CYCLE + 1;
    }

    private long seller(long number, long lastPerson) {
        boolean recent = below(number, 0, AUCTIONS_PER_RECENT_SELLER) == 0;
        long among = recent ? Math.min(RECENT_PERSONS, activeKeys) : activeKeys;
        return lastPerson - below(number, 1, among);
    }

    private Bid bid(long number, long lastPerson) {
        long lastAuction = (lastPerson + 1) * AUCTIONS_PER_CYCLE - 1;
        long price = 1 + below(number, 4, PRICE_MAX);
        return new Bid(
                number,
                keyOf(number, 0, BIDS_PER_HOT_AUCTION, lastAuction),
                keyOf(number, 2, BIDS_PER_HOT_BIDDER, lastPerson),
                price,
                extra(number));
    }

    private long keyOf(long number, int draw, int bidsPerHot, long last) {
        boolean hot = below(number, draw, bidsPerHot) == 0;
        return hot ? last / HOT_EVERY * HOT_EVERY : last - below(number, draw + 1, activeKeys);
    }

    private byte[] extra(long number) {
        byte[] bytes = new byte[Bid.EXTRA_BYTES];
        long word = 0;
        for (int i = 0; i < bytes.length; i++) {
            word = i % Long.BYTES == 0 ? random(number, 5 + i / Long.BYTES) : word >>> Byte.SIZE;
            bytes[i] = (byte) word;
        }
        return bytes;
    }

    private long below(long number, int draw, long bound) {
        return Long.remainderUnsigned(random(number, draw), bound);
    }

    private long random(long number, int draw) {
        long z = seed + (number * DRAWS + draw + 1) * GAMMA;
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }
}
