package io.afterbay.maintenance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class BurstDelayTest {
    private static final long SECOND = 1_000_000_000;

    private final BurstDelay delay = new BurstDelay(3 * SECOND);

    @Test
    void calmTimesTellTheShareThatIsBusy() {
        delay.calm(SECOND / 2, SECOND);
        assertThat(delay.delayNanos(SECOND)).isEqualTo(SECOND / 2);
        delay.calm(SECOND, SECOND);
        assertThat(delay.delayNanos(SECOND)).isBetween(3 * SECOND / 4, SECOND);
        assertThat(delay.lastNanos()).isEqualTo(delay.delayNanos(SECOND));
        delay.arrived(250, SECOND);
        delay.drained(1000, SECOND);
        assertThat(delay.delayNanos(SECOND)).isEqualTo(SECOND / 4);
    }

    /** Clocks of CPU time are coarse, and may run ahead. */
    @Test
    void calmTimesAreNeverMoreThanBusy() {
        delay.calm(2 * SECOND, SECOND);
        assertThat(delay.delayNanos(SECOND)).isEqualTo(SECOND);
    }

    @Test
    void equationTwo() {
        assertThat(BurstDelay.drainNanos(60_000, SECOND, 80_000)).isEqualTo(0.75 * SECOND);
        assertThat(BurstDelay.drainNanos(0, SECOND, 80_000)).isZero();
        assertThatThrownBy(() -> BurstDelay.drainNanos(1, 1, 0))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void followsTheRates() {
        delay.arrived(120_000, 2 * SECOND);
        delay.drained(40_000, SECOND / 2);
        assertThat(delay.delayNanos(SECOND)).isCloseTo(750_000_000L, within(10L));
        for (int i = 0; i < 1000; i++) {
            delay.arrived(20_000, SECOND);
        }
        assertThat(delay.delayNanos(SECOND)).isCloseTo(250_000_000L, within(1000L));
    }

    @Test
    void isTheBurstWhileRatesAreUnknown() {
        assertThat(delay.delayNanos(SECOND)).isEqualTo(SECOND);
        delay.arrived(1000, SECOND);
        assertThat(delay.delayNanos(SECOND)).isEqualTo(SECOND);
        delay.drained(0, SECOND);
        assertThat(delay.delayNanos(SECOND)).isEqualTo(SECOND);
    }

    @Test
    void staysWithinItsBounds() {
        assertThat(delay.delayNanos(-5)).isZero();
        assertThat(delay.delayNanos(Long.MAX_VALUE)).isEqualTo(3 * SECOND);
        delay.arrived(Long.MAX_VALUE, 1);
        delay.drained(1, Long.MAX_VALUE);
        assertThat(delay.delayNanos(SECOND)).isEqualTo(3 * SECOND);
        assertThat(new BurstDelay(0).delayNanos(SECOND)).isZero();
    }

    @Test
    void refusesWhatIsNoRate() {
        assertThatThrownBy(() -> delay.arrived(1, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> delay.drained(-1, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new BurstDelay(-1)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void isNoShorterThanTheFloor() {
        BurstDelay floored = new BurstDelay(50, 1000);
        assertThat(floored.delayNanos(0)).isEqualTo(50);
        assertThat(floored.delayNanos(70)).isEqualTo(70);
        assertThat(floored.delayNanos(5000)).isEqualTo(1000);
        assertThatThrownBy(() -> new BurstDelay(2, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("2 and 1");
    }
}
