package io.afterbay.spark.publish;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class BandwidthTest {
    private static final long SECOND = 1_000_000_000;

    private final Bandwidth bandwidth = new Bandwidth(1_000);

    /** A query that always has so many pieces of one size to write. */
    private static final class Writer {
        private final Bandwidth.Share share;
        private final int size;
        private final List<Bandwidth.Request> asked = new ArrayList<>();
        private long written;

        Writer(Bandwidth bandwidth, int size) {
            this.share = bandwidth.share();
            this.size = size;
        }

        void ask(int pieces, long now) {
            while (asked.size() < pieces) {
                asked.add(share.ask(size, now));
            }
        }

        void writeUntil(long now) {
            int before = asked.size();
            asked.removeIf(request -> request.nanosLeft(now) == 0);
            written += (long) size * (before - asked.size());
            ask(before, now);
        }
    }

    @Test
    void givesEachItsPlaceBehindTheOthersOfItsQuery() {
        Bandwidth.Share share = bandwidth.share();
        assertThat(share.ask(500, 0).nanosLeft(0)).isZero();
        assertThat(share.ask(500, 0).nanosLeft(0)).isEqualTo(SECOND / 2);
        Bandwidth.Request third = share.ask(500, SECOND / 4);
        assertThat(third.nanosLeft(SECOND / 4)).isEqualTo(3 * SECOND / 4);
        assertThat(third.nanosLeft(SECOND)).isZero();
        assertThat(bandwidth.bytes()).isEqualTo(1_500);
        assertThat(bandwidth.pausedNanos()).isEqualTo(3 * SECOND / 4);
    }

    @Test
    void savesNothingUpWhileNobodyWrites() {
        Bandwidth.Share share = bandwidth.share();
        assertThat(share.ask(1_000, 0).nanosLeft(0)).isZero();
        assertThat(share.ask(1_000, 100 * SECOND).nanosLeft(100 * SECOND)).isZero();
        assertThat(share.ask(1_000, 100 * SECOND).nanosLeft(100 * SECOND)).isEqualTo(SECOND);
    }

    /** Whoever is late to ask again loses nothing: what is granted meanwhile is not delayed. */
    @Test
    void aThreadThatSleepsForTooLongDoesNotSlowTheOthers() {
        Bandwidth.Share share = bandwidth.share();
        List<Bandwidth.Request> asked = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            asked.add(share.ask(100, 0));
        }
        assertThat(asked).allMatch(request -> request.nanosLeft(SECOND) == 0);
    }

    @Test
    void queriesThatWriteAtOnceGetTheSameHoweverManyThreadsTheyHave() {
        Writer many = new Writer(bandwidth, 50);
        Writer one = new Writer(bandwidth, 50);
        many.ask(16, 0);
        one.ask(1, 0);
        for (long now = 0; now < 100 * SECOND; now += SECOND / 20) {
            many.writeUntil(now);
            one.writeUntil(now);
            assertThat(many.written - one.written).isBetween(-50L, 50L);
        }
        assertThat(many.written + one.written).isEqualTo(100_000);
    }

    @Test
    void whatIsSharedAreBytesAndNotTurns() {
        Writer large = new Writer(bandwidth, 500);
        Writer small = new Writer(bandwidth, 10);
        large.ask(4, 0);
        small.ask(4, 0);
        for (long now = 0; now < 100 * SECOND; now += SECOND / 100) {
            large.writeUntil(now);
            small.writeUntil(now);
            assertThat(large.written - small.written).isBetween(-500L, 500L);
        }
    }

    /** A query that was idle does not stop the others until it has as much as they. */
    @Test
    void nobodySavesAShareUp() {
        Writer busy = new Writer(bandwidth, 100);
        busy.ask(2, 0);
        long now = 0;
        for (; now < 50 * SECOND; now += SECOND / 10) {
            busy.writeUntil(now);
        }
        Writer late = new Writer(bandwidth, 100);
        late.ask(2, now);
        long before = busy.written;
        for (long end = now + 10 * SECOND; now < end; now += SECOND / 10) {
            busy.writeUntil(now);
            late.writeUntil(now);
        }
        assertThat(late.written).isEqualTo(5_000);
        assertThat(busy.written - before).isEqualTo(5_000);
    }

    @Test
    void whoeverIsGivenUpIsPassed() {
        Bandwidth.Share share = bandwidth.share();
        share.ask(1_000, 0);
        Bandwidth.Request givenUp = share.ask(1_000, 0);
        Bandwidth.Request next = share.ask(1_000, 0);
        givenUp.withdraw();
        givenUp.withdraw();
        assertThat(next.nanosLeft(0)).isEqualTo(SECOND);
        assertThat(next.nanosLeft(SECOND)).isZero();
    }

    @Test
    void aThreadThatIsGivenUpLeavesItsPause() {
        Bandwidth.Share share = bandwidth.share();
        share.ask(1_000, 0);
        AtomicLong pauses = new AtomicLong();
        Publisher.Time time =
                new Publisher.Time(
                        () -> 0,
                        nanos -> {
                            pauses.incrementAndGet();
                            Thread.currentThread().interrupt();
                        });
        assertThatThrownBy(() -> share.take(1_000, time)).hasMessageContaining("given up");
        assertThat(pauses).hasValue(1);
        assertThat(share.ask(1_000, 0).nanosLeft(0)).isEqualTo(SECOND);
    }

    @Test
    void neverPausesWithoutALimit() {
        Bandwidth.Share share = new Bandwidth(0).share();
        assertThat(share.ask(1 << 30, 0).nanosLeft(0)).isZero();
        assertThat(share.ask(1 << 30, 0).nanosLeft(0)).isZero();
    }
}
