package io.afterbay.cli.measure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class LoopMetersTest {
    @Test
    void anOpenLoopCountsFromTheEndOfItsRampUp() {
        OpenLoopMeter meter = new OpenLoopMeter(new Phase(Phase.OPEN_LOOP, 300, 100, 1000));
        meter.accepted(50);
        meter.result(1_000_000);
        meter.accepted(100);
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(120));
        meter.accepted(300);
        meter.result(20_000);
        meter.result(10_000);
        assertThat(meter.latencyMs(100)).isBetween(19.9, 20.1);
        assertThat(meter.longestPauseMs()).isGreaterThanOrEqualTo(119);
        assertThat(meter.eventsPerWindow().stream().mapToLong(Long::longValue).sum())
                .isEqualTo(200);
        assertThat(meter.eventsPerWindow()).startsWith(0L, 0L);
        assertThat(meter.worstMsPerWindow()).contains(20.0).startsWith((Double) null);
    }

    @Test
    void anOpenLoopWithoutResultsHasNoLatency() {
        OpenLoopMeter meter = new OpenLoopMeter(new Phase(Phase.OPEN_LOOP, 300, 100, 1000));
        assertThat(meter.latencyMs(50)).isNull();
        assertThat(meter.longestPauseMs()).isNull();
        assertThat(meter.percentiles()).isEmpty();
    }

    @Test
    void rowsAreComparedWithoutTheirOrder() {
        ClosedLoopMeter one = new ClosedLoopMeter(new Phase(Phase.CLOSED_LOOP, 2, 0, 0), null);
        ClosedLoopMeter other = new ClosedLoopMeter(new Phase(Phase.CLOSED_LOOP, 2, 0, 0), null);
        one.row(() -> "1,2");
        one.row(() -> "3,4");
        other.row(() -> "3,4");
        other.row(() -> "1,2");
        assertThat(one.rows()).isEqualTo(other.rows()).startsWith("2 rows");
        other.row(() -> "1,2");
        assertThat(one.rows()).isNotEqualTo(other.rows());
    }
}
