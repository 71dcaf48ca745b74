package io.afterbay.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.maintenance.BurstGate;
import org.junit.jupiter.api.Test;

/** In virtual time, in milliseconds. */
class CompactionHoldTest {
    private static final long DEADLINE = 3000;
    private final BurstGate.Member one = new BurstGate.Member();
    private final BurstGate.Member two = new BurstGate.Member();
    private final CompactionHold hold = hold(true);

    private static CompactionHold hold(boolean isGated) {
        return new CompactionHold(
                new DesyncSettings(true, isGated, DEADLINE * 1_000_000, CompactionThreads.DEFAULT));
    }

    private static long nanos(long millis) {
        return 7 + millis * 1_000_000;
    }

    private boolean isHeldAt(long millis) {
        return hold.update(nanos(millis));
    }

    @Test
    void holdsDuringABurstAndAsLongAfterIt() {
        assertThat(isHeldAt(0)).isFalse();
        hold.flushBegan(one, nanos(0));
        assertThat(isHeldAt(0)).isTrue();
        hold.flushBegan(two, nanos(100));
        hold.flushEnded(one, nanos(150));
        hold.flushEnded(two, nanos(400));
        assertThat(isHeldAt(799)).isTrue();
        assertThat(hold.nanosToChange(nanos(799))).isEqualTo(1_000_000);
        assertThat(isHeldAt(800)).isFalse();
        assertThat(hold.heldNanos(nanos(900))).isEqualTo(800_000_000L);
    }

    @Test
    void takesTheDrainTimeWhereItIsKnown() {
        hold.delay().arrived(750, 1_000_000_000);
        hold.delay().drained(1000, 1_000_000_000);
        hold.flushBegan(one, nanos(0));
        hold.flushEnded(one, nanos(400));
        isHeldAt(400);
        assertThat(isHeldAt(699)).isTrue();
        assertThat(isHeldAt(700)).isFalse();
    }

    @Test
    void aDelayThatIsGivenIsNotEstimated() {
        CompactionHold fixed =
                new CompactionHold(
                        new DesyncSettings(
                                true,
                                true,
                                DEADLINE * 1_000_000,
                                CompactionThreads.DEFAULT,
                                1_000_000_000,
                                0));
        fixed.delay().calm(500_000_000, 1_000_000_000);
        fixed.flushBegan(one, nanos(0));
        fixed.flushEnded(one, nanos(400));
        assertThat(fixed.update(nanos(1399))).isTrue();
        assertThat(fixed.update(nanos(1400))).isFalse();
        assertThat(fixed.delay().lastNanos()).isEqualTo(1_000_000_000);
    }

    @Test
    void bridgesTheGapsOfABurst() {
        hold.flushBegan(one, nanos(0));
        hold.flushEnded(one, nanos(1));
        assertThat(isHeldAt(49)).isTrue();
        hold.flushBegan(two, nanos(49));
        hold.flushEnded(two, nanos(60));
        assertThat(hold.burst()).isEqualTo(1);
        assertThat(isHeldAt(119)).isTrue();
        assertThat(isHeldAt(120)).isFalse();
    }

    @Test
    void aFlushWithoutAnEndHoldsNoLongerThanTheDeadline() {
        hold.flushBegan(one, nanos(0));
        assertThat(isHeldAt(2999)).isTrue();
        assertThat(isHeldAt(3000)).isFalse();
        assertThat(hold.endedByDeadline()).isEqualTo(1);
    }

    @Test
    void endlessBurstsHoldForHalfOfTheTime() {
        long held = 0;
        for (long now = 0; now < 100_000; now += 10) {
            if (now % 100 == 0) {
                hold.flushBegan(one, nanos(now));
                hold.flushBegan(one, nanos(now));
                hold.flushEnded(one, nanos(now));
            }
            held += isHeldAt(now) ? 10 : 0;
        }
        assertThat(held).isBetween(30_000L, 51_500L);
    }

    @Test
    void anInstanceNearTheSlowdownEndsTheHold() {
        hold.flushBegan(one, nanos(0));
        assertThat(isHeldAt(10)).isTrue();
        hold.addNearSlowdown(1);
        assertThat(isHeldAt(11)).isFalse();
        assertThat(hold.endedByGuard()).isEqualTo(1);
        hold.flushBegan(two, nanos(100));
        assertThat(isHeldAt(100)).isFalse();
        hold.addNearSlowdown(-1);
        assertThat(isHeldAt(101)).isTrue();
    }

    @Test
    void whoClosesEndsItsFlushes() {
        hold.flushBegan(one, nanos(0));
        hold.flushBegan(one, nanos(0));
        isHeldAt(0);
        hold.allFlushesEnded(one, nanos(10));
        assertThat(isHeldAt(59)).isTrue();
        assertThat(isHeldAt(60)).isFalse();
    }

    @Test
    void saysWhenNobodyLooksAfterIt() {
        hold.flushBegan(one, nanos(0));
        isHeldAt(0);
        assertThat(hold.isOverdue(nanos(3499), 500_000_000)).isFalse();
        assertThat(hold.isOverdue(nanos(3500), 500_000_000)).isTrue();
    }

    @Test
    void countsBurstsWithoutAGate() {
        CompactionHold open = hold(false);
        open.flushBegan(one, nanos(0));
        assertThat(open.update(nanos(0))).isFalse();
        open.flushEnded(one, nanos(1));
        open.flushBegan(one, nanos(1000));
        assertThat(open.burst()).isEqualTo(2);
        assertThat(open.nanosToChange(nanos(1000))).isEqualTo(Long.MAX_VALUE);
    }
}
