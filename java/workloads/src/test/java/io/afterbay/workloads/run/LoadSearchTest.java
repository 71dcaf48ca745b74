package io.afterbay.workloads.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;

class LoadSearchTest {
    private static final double WANTED = 0.75;

    /** On two processors, 100 us for an event as fast as possible. */
    private final LoadSearch search = new LoadSearch(WANTED, 2, 100);

    private int attempts(DoubleUnaryOperator busyAt) {
        int attempts = 1;
        while (tried(busyAt.applyAsDouble(search.ratePerS()))) {
            attempts++;
        }
        return attempts;
    }

    /** All that was sent arrived. */
    private boolean tried(double share) {
        return search.tried(share, search.ratePerS());
    }

    @Test
    void beginsWellBelowWhatAnEventCosts() {
        assertThat(search.ratePerS()).isCloseTo(9_000, within(1e-6));
        assertThat(attempts(rate -> 0.76)).isEqualTo(1);
        assertThat(search.ratePerS()).isCloseTo(9_000, within(1e-6));
        assertThat(search.busy()).isEqualTo(0.76);
    }

    /** Half of the time of a processor goes into checkpoints, whatever the rate. */
    @Test
    void correctsForWhatIsNotPaidPerEvent() {
        DoubleUnaryOperator busyAt = rate -> 0.25 + rate * 50e-6;
        assertThat(attempts(busyAt)).isBetween(2, LoadSearch.ATTEMPTS_MAX);
        assertThat(busyAt.applyAsDouble(search.ratePerS())).isCloseTo(WANTED, within(0.05));
    }

    /** As fast as possible, an event costs less than in an open loop. */
    @Test
    void anAttemptThatTakesAllThereIsTellsByWhatArrived() {
        assertThat(search.tried(1, 4_000)).isTrue();
        assertThat(search.ratePerS()).isCloseTo(4_000 * WANTED, within(1e-6));
        assertThat(search.tried(0.76, 3_000)).isFalse();
    }

    @Test
    void knowsWhenThereIsNoMoreToBeHad() {
        assertThat(tried(0.5)).isTrue();
        assertThat(search.isBeyond(9_000, 9_000)).isTrue();
        assertThat(search.isBeyond(30_000, 9_000)).isFalse();
        search.tried(0.99, 9_000);
        assertThat(search.isBeyond(9_100, 9_100)).as("it was too much").isFalse();
    }

    @Test
    void endsAlsoWhereTheLoadDoesNotFollow() {
        assertThat(attempts(rate -> 0.4)).isEqualTo(LoadSearch.ATTEMPTS_MAX);
        assertThat(search.ratePerS())
                .isEqualTo(9_000 * Math.pow(1.5, LoadSearch.ATTEMPTS_MAX), within(1.0));
    }
}
