package io.afterbay.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** In simulated time. */
class PaceTest {
    private static final long MS = 1_000_000;

    private long nowNanos;

    /** What passes in so many milliseconds, of a reader that sleeps when it is told to. */
    private long passedIn(Pace pace, long ms, int perPoll, Random hiccups) {
        long endNanos = nowNanos + ms * MS;
        long passed = 0;
        while (nowNanos < endNanos) {
            if (pace.allows(nowNanos)) {
                pace.passed(perPoll);
                passed += perPoll;
                nowNanos += 2_000;
            } else if (pace.isPaused()) {
                nowNanos = endNanos;
            } else {
                // Timers are late, sometimes by a lot.
                nowNanos += pace.waitMs() * MS + hiccups.nextInt(10) * MS;
                nowNanos += hiccups.nextInt(20) == 0 ? 100 * MS : 0;
            }
        }
        return passed;
    }

    @Test
    void theRateIsKeptWhateverItIs() {
        for (double rate : new double[] {3, 200, 4_321, 100_000}) {
            Pace pace = new Pace(nowNanos);
            pace.set(rate, nowNanos);
            long passed = passedIn(pace, 60_000, 1, new Random(1));
            assertThat((double) passed).as("at %s", rate).isBetween(rate * 57, rate * 61);
        }
    }

    @Test
    void whatOnePollBringsIsOwed() {
        Pace pace = new Pace(nowNanos);
        pace.set(1_000, nowNanos);
        assertThat((double) passedIn(pace, 60_000, 700, new Random(2)))
                .isBetween(57_000.0, 61_000.0);
    }

    @Test
    void nothingPassesBeforeARateIsKnownOrInAPause() {
        Pace pace = new Pace(nowNanos);
        assertThat(passedIn(pace, 10_000, 1, new Random(3))).isZero();
        pace.set(100, nowNanos);
        assertThat(passedIn(pace, 10_000, 1, new Random(3))).isPositive();
        pace.set(0, nowNanos);
        assertThat(pace.isPaused()).isTrue();
        assertThat(passedIn(pace, 10_000, 1, new Random(3))).isZero();
    }

    /** A pause saves nothing up, and so does a reader that had nothing to read. */
    @Test
    void aQuarterOfASecondIsAllThatIsSavedUp() {
        Pace pace = new Pace(nowNanos);
        pace.set(1_000, nowNanos);
        nowNanos += 3_600_000 * MS;
        long atOnce = 0;
        while (pace.allows(nowNanos)) {
            pace.passed(1);
            atOnce++;
        }
        assertThat(atOnce).isEqualTo(250);
        pace.set(0, nowNanos);
        nowNanos += 3_600_000 * MS;
        pace.set(1_000, nowNanos);
        assertThat(pace.allows(nowNanos)).isFalse();
    }

    @Test
    void infinityHoldsNothingBackAndOwesNothing() {
        Pace pace = new Pace(nowNanos);
        pace.set(Double.POSITIVE_INFINITY, nowNanos);
        for (int i = 0; i < 1_000; i++) {
            assertThat(pace.allows(nowNanos)).isTrue();
            pace.passed(1_000);
        }
        pace.set(100, nowNanos);
        nowNanos += 20 * MS;
        assertThat(pace.allows(nowNanos)).isTrue();
    }
}
