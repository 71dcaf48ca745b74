package io.afterbay.workloads.run;

import java.time.Duration;
import java.time.Instant;

/**
 * Microseconds since the epoch that never step back within a process: wall time at class loading
 * plus monotonic time since. Stamps from different machines are as far apart as their clocks.
 */
public final class EpochClock {
    private static final long ORIGIN_NANOS = System.nanoTime();
    private static final long ORIGIN_MICROS =
            Duration.between(Instant.EPOCH, Instant.now()).toNanos() / 1_000;

    private EpochClock() {}

    public static long micros() {
        return ORIGIN_MICROS + (System.nanoTime() - ORIGIN_NANOS) / 1_000;
    }
}
