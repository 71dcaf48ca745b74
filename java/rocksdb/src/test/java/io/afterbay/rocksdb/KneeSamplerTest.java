package io.afterbay.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.IntToLongFunction;
import org.junit.jupiter.api.Test;

/** In virtual time. */
class KneeSamplerTest {
    private static final long WINDOW_NANOS = 50_000_000;
    private int running;
    private long latency;
    private long now;
    private final KneeSampler sampler = new KneeSampler(() -> latency, () -> running);

    /** The last answer, after a minute in which 1 to 16 compactions ran. */
    private int afterAMinute(IntToLongFunction latencyOf) {
        int threads = 0;
        for (int window = 0; window < 1200; window++) {
            running = 1 + window % 16;
            latency = latencyOf.applyAsLong(running);
            threads = sampler.sample(now);
            now += WINDOW_NANOS;
        }
        return threads;
    }

    @Test
    void findsWhereLatencyBeginsToRise() {
        assertThat(afterAMinute(n -> n <= 4 ? 300 + n : 304 + 150 * (n - 4))).isEqualTo(4);
    }

    @Test
    void findsNoneWhereItDoesNotRise() {
        assertThat(afterAMinute(n -> 300)).isZero();
    }

    @Test
    void lateTimersAreLatency() {
        TimerLateness lateness = new TimerLateness(() -> now);
        assertThat(lateness.longestNanos()).isZero();
        now += KneeSampler.PERIOD_NANOS + 42;
        assertThat(lateness.longestNanos()).isEqualTo(42);
        now += KneeSampler.PERIOD_NANOS - 1;
        assertThat(lateness.longestNanos()).isZero();
    }
}
