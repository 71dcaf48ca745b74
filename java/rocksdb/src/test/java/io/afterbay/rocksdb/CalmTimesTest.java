package io.afterbay.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.maintenance.BurstDelay;
import org.junit.jupiter.api.Test;

/** In virtual time, in milliseconds, on four processors. */
class CalmTimesTest {
    private static final long MS = 1_000_000;
    private static final long BURST = 1000 * MS;

    private long cpuNanos;
    private final BurstDelay delay = new BurstDelay(10_000 * MS);
    private final CalmTimes calm = new CalmTimes(() -> cpuNanos, 4, delay);

    private void at(long millis, long cpuMillis, boolean isCalm) {
        cpuNanos = cpuMillis < 0 ? -1 : cpuMillis * MS;
        calm.change(isCalm, millis * MS);
    }

    @Test
    void onlyCalmTimesCount() {
        at(0, 0, true);
        at(1000, 2000, false); // half of four processors
        at(2000, 6000, true); // all of them, in a burst
        at(3000, 8000, false);
        assertThat(delay.delayNanos(BURST)).isEqualTo(BURST / 2);
    }

    @Test
    void whatIsToldTwiceIsNoChange() {
        at(0, 0, true);
        at(900, 3600, true);
        at(1000, 4000 - 1000, false);
        at(1001, 4000, false);
        assertThat(delay.delayNanos(BURST)).isEqualTo(3 * BURST / 4);
    }

    @Test
    void shortTimesAndUnknownOnesDoNotCount() {
        at(0, 0, true);
        at(99, 0, false);
        at(1000, -1, true);
        at(2000, -1, false);
        assertThat(delay.delayNanos(BURST)).isEqualTo(BURST);
    }

    @Test
    void thisProcessTellsItsTime() {
        long before = CpuSource.ofProcess().nanos();
        assertThat(before).isPositive();
        while (CpuSource.ofProcess().nanos() <= before) {
            Thread.onSpinWait(); // which takes some of it
        }
    }
}
