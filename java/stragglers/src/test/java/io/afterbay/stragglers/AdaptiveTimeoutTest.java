package io.afterbay.stragglers;

import static io.afterbay.stragglers.VirtualTime.MILLIS;
import static io.afterbay.stragglers.VirtualTime.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AdaptiveTimeoutTest {
    private static final Percentage PRECISION = Percentage.withPercentage(1);

    private final ManualClock clock = new ManualClock();
    private final AdaptiveTimeout timeout = new AdaptiveTimeout(clock);

    private void record(int count, long millis) {
        for (int i = 0; i < count; i++) {
            timeout.record(millis * MILLIS);
        }
    }

    private double afterASecond() {
        clock.advance(SECONDS);
        return (double) timeout.timeoutNanos() / MILLIS;
    }

    @Test
    void nothingIsLateBeforeThereAreLatencies() {
        assertThat(timeout.timeoutNanos()).isEqualTo(AdaptiveTimeout.NONE);
        clock.advance(100 * SECONDS);
        assertThat(timeout.timeoutNanos()).isEqualTo(AdaptiveTimeout.NONE);
    }

    @Test
    void nothingIsLateBeforeTheFirstSecondHasEnded() {
        record(1000, 10);
        clock.advance(SECONDS - 1);
        assertThat(timeout.timeoutNanos()).isEqualTo(AdaptiveTimeout.NONE);
        clock.advance(1);
        assertThat(timeout.timeoutNanos()).isLessThan(AdaptiveTimeout.NONE);
    }

    @Test
    void isThe90thPercentileIfThe99thIsMoreThanTwiceThat() {
        record(900, 10);
        record(100, 21);
        assertThat(afterASecond()).isCloseTo(10, PRECISION);
    }

    @Test
    void isThe95thPercentileIfOnlyThe99Point9thIsMoreThanTwiceThat() {
        record(900, 10);
        record(50, 12);
        record(45, 15);
        record(5, 30);
        assertThat(afterASecond()).isCloseTo(12, PRECISION);
    }

    @Test
    void isThe99Point9thPercentileIfTheTailIsShort() {
        record(900, 10);
        record(90, 11);
        record(9, 19);
        record(1, 1000);
        assertThat(afterASecond()).isCloseTo(19, PRECISION);
    }

    @Test
    void isNoLessThanTheShareOfLateTuplesAllows() {
        AdaptiveTimeout ofTwoPercent = new AdaptiveTimeout(clock, 0.02);
        for (int i = 1; i <= 1000; i++) {
            ofTwoPercent.record((i <= 900 ? 10 : i) * MILLIS); // long tail: the 90th as printed
        }
        clock.advance(SECONDS);
        assertThat((double) ofTwoPercent.timeoutNanos() / MILLIS).isCloseTo(980, PRECISION);
    }

    @ParameterizedTest
    @ValueSource(doubles = {-0.01, 1.01, Double.NaN})
    void refusesOtherShares(double share) {
        assertThatThrownBy(() -> new AdaptiveTimeout(clock, share))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("0..1");
    }

    @Test
    void equalLatenciesHaveNoTail() {
        record(1000, 10);
        assertThat(afterASecond()).isCloseTo(10, PRECISION).isGreaterThanOrEqualTo(10);
    }

    @Test
    void eachPeriodCountsForItself() {
        record(1000, 10);
        assertThat(afterASecond()).isCloseTo(10, PRECISION);
        record(1000, 3);
        assertThat(afterASecond()).isCloseTo(3, PRECISION);
    }

    @Test
    void whatEndsThePeriodBelongsToTheNext() {
        record(1000, 10);
        clock.advance(SECONDS);
        record(1000, 77);
        assertThat(timeout.timeoutNanos() / MILLIS).isEqualTo(10);
        assertThat(afterASecond()).isCloseTo(77, PRECISION);
    }

    @Test
    void aPeriodWithFewLatenciesGoesOn() {
        record(AdaptiveTimeout.SAMPLES_MIN - 1, 10);
        clock.advance(SECONDS);
        assertThat(timeout.timeoutNanos()).isEqualTo(AdaptiveTimeout.NONE);
        record(1, 10);
        assertThat((double) timeout.timeoutNanos() / MILLIS).isCloseTo(10, PRECISION);
    }

    @Test
    void theTimeoutStaysWhileNothingFinishes() {
        record(1000, 10);
        assertThat(afterASecond()).isCloseTo(10, PRECISION);
        clock.advance(100 * SECONDS);
        assertThat(timeout.timeoutNanos() / MILLIS).isEqualTo(10);
    }

    @Test
    void aClockThatGoesBackDelaysAtMostOnePeriod() {
        clock.now = 1000 * SECONDS;
        AdaptiveTimeout set = new AdaptiveTimeout(clock);
        clock.now = 0;
        for (int i = 0; i < 1000; i++) {
            set.record(10 * MILLIS);
        }
        clock.advance(SECONDS);
        assertThat(set.timeoutNanos() / MILLIS).isEqualTo(10);
    }

    @Test
    void aClockThatStandsStillChangesNothing() {
        record(100_000, 10);
        assertThat(timeout.timeoutNanos()).isEqualTo(AdaptiveTimeout.NONE);
    }

    @Test
    void worksWhereTheClockOverflows() {
        clock.now = Long.MAX_VALUE - 5;
        AdaptiveTimeout late = new AdaptiveTimeout(clock);
        for (int i = 0; i < 1000; i++) {
            late.record(10 * MILLIS);
        }
        clock.advance(SECONDS);
        assertThat(late.timeoutNanos() / MILLIS).isEqualTo(10);
    }

    @Test
    void takesAnyLatency() {
        for (int i = 0; i < 1000; i++) {
            timeout.record(i % 2 == 0 ? Long.MIN_VALUE : -1);
        }
        assertThat(afterASecond()).isCloseTo(0, within(0.001));
        for (int i = 0; i < 1000; i++) {
            timeout.record(Long.MAX_VALUE);
        }
        assertThat(afterASecond()).isCloseTo(3_600_000, PRECISION);
    }
}
