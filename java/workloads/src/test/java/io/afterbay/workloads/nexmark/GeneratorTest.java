package io.afterbay.workloads.nexmark;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

class GeneratorTest {
    private static final Generator GENERATOR = new Generator(1, 100, 1_000);

    @Test
    void ofFiftyEventsOneIsAPersonThreeAreAuctionsAndTheOthersBids() {
        Map<Class<?>, Integer> kinds = new HashMap<>();
        for (long number = 0; number < 50_000; number++) {
            kinds.merge(GENERATOR.event(number).getClass(), 1, Integer::sum);
        }
        assertThat(kinds)
                .containsExactlyInAnyOrderEntriesOf(
                        Map.of(Person.class, 1_000, Auction.class, 3_000, Bid.class, 46_000));
    }

    @Test
    void anEventDependsOnItsNumberAndTheSeedOnly() {
        Generator again = new Generator(1, 100, 1_000);
        Generator other = new Generator(2, 100, 1_000);
        for (long number = 9_999; number >= 0; number -= 7) {
            assertThat(again.event(number)).isEqualTo(GENERATOR.event(number));
            assertThat(other.event(number)).isNotEqualTo(GENERATOR.event(number));
            assertThat(GENERATOR.event(number).number()).isEqualTo(number);
        }
    }

    @Test
    void keysAreThoseActiveAtTheTime() {
        for (long number = 0; number < 1_000_000; number += 997) {
            long lastPerson = number / 50;
            long lastAuction = lastPerson * 3 + 2;
            if (GENERATOR.event(number) instanceof Bid bid) {
                assertThat(bid.bidder()).isBetween(lastPerson - 999, lastPerson);
                assertThat(bid.auction()).isBetween(lastAuction - 999, lastAuction);
                assertThat(bid.price()).isBetween(1L, 1_000_000L);
            } else if (GENERATOR.event(number) instanceof Auction auction) {
                assertThat(auction.seller()).isBetween(lastPerson - 999, lastPerson);
            }
        }
    }

    @Test
    void theSetOfKeysHasItsFullSizeFromTheBeginning() {
        Set<Long> bidders = new HashSet<>();
        LongStream.range(0, 20_000)
                .mapToObj(GENERATOR::event)
                .forEach(event -> addBidder(event, bidders));
        assertThat(bidders).hasSizeGreaterThan(1_300);
    }

    private static void addBidder(Event event, Set<Long> bidders) {
        if (event instanceof Bid bid) {
            bidders.add(bid.bidder());
        }
    }

    @Test
    void halfTheBidsGoToTheHotAuctionAndAQuarterComeFromTheHotBidder() {
        long hotAuction = 0;
        long hotBidder = 0;
        long bids = 0;
        for (long number = 100_000; number < 200_000; number++) {
            if (GENERATOR.event(number) instanceof Bid bid) {
                bids++;
                long lastPerson = number / 50;
                hotAuction += bid.auction() == (lastPerson * 3 + 2) / 100 * 100 ? 1 : 0;
                hotBidder += bid.bidder() == lastPerson / 100 * 100 ? 1 : 0;
            }
        }
        assertThat((double) hotAuction / bids).isBetween(0.49, 0.51);
        assertThat((double) hotBidder / bids).isBetween(0.24, 0.26);
    }

    @Test
    void eventTimeGrowsEvenly() {
        assertThat(GENERATOR.timeMillis(0)).isZero();
        assertThat(GENERATOR.timeMillis(10_000)).isEqualTo(1_000);
        for (long millis = 0; millis < 50; millis++) {
            long first = GENERATOR.firstAtOrAfter(millis);
            assertThat(GENERATOR.timeMillis(first)).isGreaterThanOrEqualTo(millis);
            assertThat(first == 0 || GENERATOR.timeMillis(first - 1) < millis).isTrue();
        }
    }

    @Test
    void bidsHave84BytesAuctionsAndPersons16() throws Exception {
        roundTrip(new PersonSerializer(), (Person) GENERATOR.event(0), 16);
        roundTrip(new AuctionSerializer(), (Auction) GENERATOR.event(1), 16);
        roundTrip(new BidSerializer(), (Bid) GENERATOR.event(4), 84);
        for (long number = 0; number < 5; number++) {
            Event event = GENERATOR.event(number);
            roundTrip(new EventSerializer(), event, event instanceof Bid ? 85 : 17);
        }
        roundTrip(new AnswerSerializer(), new Answer(5, 1, 2, 3), 9 + 24);
        roundTrip(new LeadersSerializer(), new Leaders(5, new long[] {1, 2}), 12 + 16);
    }

    private static <T> void roundTrip(TypeSerializer<T> serializer, T value, int bytes)
            throws Exception {
        DataOutputSerializer out = new DataOutputSerializer(16);
        serializer.serialize(value, out);
        assertThat(out.length()).isEqualTo(bytes);
        DataOutputSerializer copy = new DataOutputSerializer(16);
        serializer.copy(new DataInputDeserializer(out.getCopyOfBuffer()), copy);
        assertThat(copy.getCopyOfBuffer()).isEqualTo(out.getCopyOfBuffer());
        DataInputDeserializer in = new DataInputDeserializer(out.getCopyOfBuffer());
        assertThat(serializer.deserialize(in)).isEqualTo(value);
        assertThat(in.available()).isZero();
        assertThat(serializer.snapshotConfiguration().restoreSerializer()).isEqualTo(serializer);
    }
}
