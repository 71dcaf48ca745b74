package io.afterbay.storm.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.Await;
import org.junit.jupiter.api.Test;

/** Processor time is counted; how much of it there is depends on the machine. */
class BusyProcessorsTest {
    private static final long MILLI = 1_000_000;

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("busy-"))
                .count();
    }

    @Test
    void useProcessorTimeUntilTheyAreClosed() throws Exception {
        try (BusyProcessors busy = new BusyProcessors(0.2)) {
            assertThat(threads()).isEqualTo(Runtime.getRuntime().availableProcessors());
            Await.until("time is used", () -> busy.cpuNanos() > 20 * MILLI);
        }
        assertThat(threads()).isZero();
    }

    @Test
    void noShareIsNoThread() throws Exception {
        try (BusyProcessors busy = new BusyProcessors(0)) {
            assertThat(threads()).isZero();
            assertThat(busy.cpuNanos()).isZero();
        }
    }
}
