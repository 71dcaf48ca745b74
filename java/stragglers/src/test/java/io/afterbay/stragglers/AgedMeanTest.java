package io.afterbay.stragglers;

import static io.afterbay.stragglers.VirtualTime.MILLIS;
import static io.afterbay.stragglers.VirtualTime.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AgedMeanTest {
    private static final double HALF_LIFE_NANOS = 1e9;

    private final AgedMean mean = new AgedMean(HALF_LIFE_NANOS, 0);
    private long now;

    private void observe(int times, double observed, long everyNanos) {
        for (int i = 0; i < times; i++) {
            now += everyNanos;
            mean.observe(observed, now);
        }
    }

    @Test
    void isUnknownUntilSomethingIsObserved() {
        assertThat(mean.value()).isEqualTo(AgedMean.UNKNOWN);
        observe(1, 7, 100 * SECONDS);
        assertThat(mean.value()).isEqualTo(7);
    }

    /** One half-life of tens counts as much as all of the hundreds before it. */
    @Test
    void whatIsOneHalfLifeAgoCountsHalf() {
        observe(1000, 100, 10 * MILLIS);
        observe(100, 10, 10 * MILLIS);
        assertThat(mean.value()).isCloseTo(55, within(1.0));
    }

    /** However many tuples a task had before it stood still, one try tells that it is back. */
    @ParameterizedTest
    @ValueSource(ints = {1, 40, 10_000})
    void oneObservationAfterASilenceCountsForNearlyAll(int before) {
        observe(before, 100, MILLIS);
        now += 4 * SECONDS;
        observe(1, 10, 0);
        assertThat(mean.value()).isBetween(10.0, 21.0);
    }

    /** Gaps between observations at random times are no silences, so that few do not decide. */
    @Test
    void gapsBetweenObservationsForgetNothing() {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 100_000; i++) {
            now += VirtualTime.exponential(random, 40 * MILLIS);
            mean.observe(VirtualTime.exponential(random, 1_000_000), now);
            if (i > 100) {
                assertThat(mean.value()).isBetween(300_000.0, 2_200_000.0);
            }
        }
    }

    @Test
    void aTimeThatGoesBackIsNoSilence() {
        observe(10, 100, MILLIS);
        mean.observe(100, now - 4 * SECONDS);
        observe(1, 10, MILLIS);
        assertThat(mean.value()).isBetween(90.0, 100.0);
    }
}
