package io.afterbay.cli.profile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class ThreadTraceTest {
    private final ThreadTrace trace = new ThreadTrace();

    @Test
    void cpuTimeCountsToTheStateInWhichItIsFound() {
        trace.look(1_000, 50, true, true);
        trace.look(1_100, 80, true, true);
        trace.look(1_200, 170, true, false);
        trace.look(1_300, 180, false, false);
        assertThat(trace.totalNanos()).isEqualTo(130);
        assertThat(trace.nativeShare()).isCloseTo(30.0 / 120, within(1e-9));
    }

    /** As in a write stall of RocksDB: in native code for long, and nothing done. */
    @Test
    void waitingInNativeCodeWeighsNothing() {
        trace.look(1_000, 50, true, false);
        trace.look(1_100, 150, true, false);
        for (int at = 1_200; at <= 100_000; at += 100) {
            trace.look(at, 150, true, true);
        }
        assertThat(trace.nativeShare()).isZero();
        assertThat(trace.busy(1_050)).isEqualTo(1);
        assertThat(trace.busy(50_050)).isZero();
        assertThat(trace.busy(999)).as("before").isZero();
        assertThat(trace.busy(100_001)).as("after").isZero();
    }

    @Test
    void aThreadThatNobodySawHasUsedNothing() {
        assertThat(trace.totalNanos()).isZero();
        assertThat(trace.nativeShare()).isZero();
        assertThat(trace.busy(1)).isZero();
    }
}
