package io.afterbay.storm.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Each sender hears of its own tuples only. The algorithm has tests of its own. */
class SenderBalancesTest {
    private static final int SENDER = 1;
    private static final int OTHER = 2;
    private static final int[] TASKS = {3, 4, 5, 6};
    private static final int SLOW = 3;
    private static final int TUPLES = 4000;
    private static final long PERIOD_NANOS = 5_000_000_000L;

    private final AtomicLong clock = new AtomicLong();
    private final SenderBalances balances = new SenderBalances(clock::get, TASKS);

    private double shareOfSlowTask(int sender) {
        int slow = 0;
        for (int i = 0; i < TUPLES; i++) {
            slow += balances.choose(sender) == SLOW ? 1 : 0;
        }
        return (double) slow / TUPLES;
    }

    @Test
    void theSlowTaskLosesOnePercentOfTheSendersTuplesInEachPeriod() {
        // Standard deviation of a share: 0.7 percent.
        assertThat(shareOfSlowTask(SENDER)).isBetween(0.21, 0.29);
        assertThat(shareOfSlowTask(OTHER)).isBetween(0.21, 0.29);
        for (int period = 0; period < 20; period++) {
            for (int task : TASKS) {
                balances.executed(SENDER, task, task == SLOW ? 3000 : 1000);
            }
            clock.addAndGet(PERIOD_NANOS);
        }
        assertThat(shareOfSlowTask(SENDER)).isBetween(0.03, 0.1);
        assertThat(shareOfSlowTask(OTHER)).isBetween(0.21, 0.29);
    }

    @Test
    void whatIsHeardOfASenderThatHasSentNothingChangesNothing() {
        balances.executed(SENDER, SLOW, 3000);
        assertThat(shareOfSlowTask(SENDER)).isBetween(0.21, 0.29);
    }
}
