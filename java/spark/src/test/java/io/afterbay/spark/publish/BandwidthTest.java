package io.afterbay.spark.publish;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BandwidthTest {
    private static final long SECOND = 1_000_000_000;

    @Test
    void givesEachItsPlaceBehindTheOthers() {
        Bandwidth bandwidth = new Bandwidth(1_000);
        assertThat(bandwidth.nanosBefore(500, 0)).isZero();
        assertThat(bandwidth.nanosBefore(500, 0)).isEqualTo(SECOND / 2);
        assertThat(bandwidth.nanosBefore(500, SECOND / 4)).isEqualTo(3 * SECOND / 4);
    }

    @Test
    void savesNothingUpWhileNobodyWrites() {
        Bandwidth bandwidth = new Bandwidth(1_000);
        bandwidth.nanosBefore(1_000, 0);
        assertThat(bandwidth.nanosBefore(1_000, 100 * SECOND)).isZero();
        assertThat(bandwidth.nanosBefore(1_000, 100 * SECOND)).isEqualTo(SECOND);
    }

    @Test
    void neverPausesWithoutALimit() {
        Bandwidth bandwidth = new Bandwidth(0);
        assertThat(bandwidth.nanosBefore(1 << 30, 0)).isZero();
        assertThat(bandwidth.nanosBefore(1 << 30, 0)).isZero();
    }
}
