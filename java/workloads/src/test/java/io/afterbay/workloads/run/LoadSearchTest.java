package io.afterbay.workloads.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;

class LoadSearchTest {
    private static final double WANTED = 0.75;

    /** On two processors, 100 us for an event as fast as possible. */
    private final LoadSearch search = new LoadSearch(WANTED, 2, 100, 20_000);

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

    /** Measured while code was compiled, as fast as possible is less than it does later. */
    @Test
    void goesBeyondWhatTheFirstSecondsSay() {
        LoadSearch cold = new LoadSearch(WANTED, 2, 100, 5_000);
        assertThat(cold.ratePerS()).isCloseTo(4_500, within(1e-6));
        double busy = 0;
        for (boolean goesOn = true; goesOn; ) {
            busy = cold.ratePerS() * 60e-6;
            goesOn = cold.tried(busy, cold.ratePerS());
        }
        assertThat(busy).isCloseTo(WANTED, within(0.03));
        assertThat(cold.ratePerS()).isCloseTo(12_500, within(500.0));
    }

    /** The disk does 10,000 events per second, whatever the processors have left. */
    @Test
    void staysBelowWhatTheDiskDoes() {
        for (boolean goesOn = true; goesOn; ) {
            double arrived = Math.min(10_000, search.ratePerS());
            goesOn = search.tried(arrived * 30e-6, arrived);
        }
        assertThat(search.ratePerS()).isCloseTo(9_000, within(1e-6));
    }

    @Test
    void endsAlsoWhereTheLoadDoesNotFollow() {
        assertThat(attempts(rate -> 0.4)).isEqualTo(LoadSearch.ATTEMPTS_MAX);
        assertThat(search.ratePerS())
                .isEqualTo(9_000 * Math.pow(1.5, LoadSearch.ATTEMPTS_MAX), within(1.0));
    }
}
