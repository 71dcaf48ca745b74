package io.afterbay.stragglers;

import static io.afterbay.stragglers.VirtualTime.MILLIS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class LatencyBalanceTest extends TaskChooserContract {
    private static final Offset<Double> EXACT = within(1e-9);

    @Override
    LatencyBalance open(long seed) {
        return new LatencyBalance(clock, seed);
    }

    private LatencyBalance of(int taskCount) {
        LatencyBalance balance = open(1);
        int[] tasks = new int[taskCount];
        Arrays.setAll(tasks, i -> i);
        balance.setTasks(tasks);
        return balance;
    }

    /** A period in which each task, from 0 on, takes so many milliseconds. */
    private void period(LatencyBalance balance, long... millis) {
        for (int task = 0; task < millis.length; task++) {
            balance.completed(task, millis[task] * MILLIS);
        }
        endPeriod(balance);
    }

    private void endPeriod(LatencyBalance balance) {
        clock.advance(LatencyBalance.PERIOD_NANOS);
        balance.completed(99, 0); // any feedback ends it
    }

    private static void assertShares(LatencyBalance balance, double... shares) {
        for (int task = 0; task < shares.length; task++) {
            assertThat(balance.share(task)).as("share of " + task).isCloseTo(shares[task], EXACT);
        }
    }

    @Test
    void theSlowestGivesToTheFastestAndSoOn() {
        LatencyBalance balance = of(4);
        period(balance, 40, 10, 20, 30);
        assertShares(balance, 0.24, 0.26, 0.26, 0.24);
        period(balance, 40, 10, 20, 30);
        assertShares(balance, 0.23, 0.27, 0.27, 0.23);
    }

    @Test
    void stopsAtTheFirstPairThatIsNearEnough() {
        LatencyBalance balance = of(4);
        period(balance, 40, 10, 20, 24); // 24 is not more than 1.2 times 20
        assertShares(balance, 0.24, 0.26, 0.25, 0.25);
    }

    @Test
    void aRatioOfExactlyTheToleranceIsTolerated() {
        LatencyBalance balance = of(2);
        period(balance, 10, 12);
        assertShares(balance, 0.5, 0.5);
        period(balance, 10, 13); // 12.5 when aged
        assertShares(balance, 0.51, 0.49);
    }

    @Test
    void theMiddleOfAnOddNumberKeepsItsShare() {
        LatencyBalance balance = of(3);
        period(balance, 90, 30, 10);
        assertShares(balance, 1 / 3.0 - 0.01, 1 / 3.0, 1 / 3.0 + 0.01);
    }

    @Test
    void equalLatenciesShiftNothing() {
        LatencyBalance balance = of(5);
        period(balance, 10, 10, 10, 10, 10);
        assertShares(balance, 0.2, 0.2, 0.2, 0.2, 0.2);
        period(balance, 0, 0, 0, 0, 0);
        assertShares(balance, 0.2, 0.2, 0.2, 0.2, 0.2);
    }

    @Test
    void latenciesAreAgedByHalf() {
        LatencyBalance balance = of(2);
        period(balance, 10, 10);
        assertThat(balance.latencyNanos(0)).isEqualTo(10 * MILLIS);
        period(balance, 20, 10);
        assertThat(balance.latencyNanos(0)).isEqualTo(15 * MILLIS);
        period(balance, 20, 10);
        assertThat(balance.latencyNanos(0)).isEqualTo(17_500_000);
        assertThat(balance.latencyNanos(99)).isZero();
    }

    @Test
    void theLatencyOfAPeriodIsItsMean() {
        LatencyBalance balance = of(2);
        balance.completed(0, 10 * MILLIS);
        balance.completed(0, 20 * MILLIS);
        period(balance, 60);
        assertThat(balance.latencyNanos(0)).isEqualTo(30 * MILLIS);
    }

    @Test
    void nothingHappensWithinAPeriod() {
        LatencyBalance balance = of(2);
        balance.completed(0, 10 * MILLIS);
        balance.completed(1, 90 * MILLIS);
        clock.advance(LatencyBalance.PERIOD_NANOS - 1);
        balance.completed(1, 90 * MILLIS);
        assertShares(balance, 0.5, 0.5);
        clock.advance(1);
        balance.completed(1, 90 * MILLIS);
        assertShares(balance, 0.51, 0.49);
    }

    @Test
    void aTaskWithoutLatenciesTakesNoPart() {
        LatencyBalance balance = of(3);
        period(balance, 90, 10);
        assertShares(balance, 1 / 3.0 - 0.01, 1 / 3.0 + 0.01, 1 / 3.0);
    }

    @Test
    void aPeriodWithoutLatenciesKeepsTheAgedOne() {
        LatencyBalance balance = of(2);
        period(balance, 90, 10);
        endPeriod(balance);
        assertThat(balance.latencyNanos(0)).isEqualTo(90 * MILLIS);
        assertShares(balance, 0.48, 0.52);
    }

    /** What is printed has no way back: without traffic there is no latency. */
    @Test
    void noShareBecomesNegativeAndNoneComesBackFromZero() {
        LatencyBalance balance = of(2);
        for (int i = 0; i < 60; i++) {
            period(balance, 90, 10);
        }
        assertShares(balance, 0, 1);
        for (int i = 0; i < 1000; i++) {
            assertThat(balance.choose()).isEqualTo(1);
        }
        assertThat(balance.chooseOther(1)).isZero();
        for (int i = 0; i < 60; i++) {
            balance.completed(1, 10 * MILLIS);
            endPeriod(balance);
        }
        assertShares(balance, 0, 1);
    }

    @Test
    void sharesAreProbabilities() {
        LatencyBalance balance = of(4);
        for (int i = 0; i < 15; i++) {
            period(balance, 40, 10, 20, 30);
        }
        assertShares(balance, 0.10, 0.40, 0.40, 0.10);
        int[] counts = new int[4];
        for (int i = 0; i < 100_000; i++) {
            counts[balance.choose()]++;
        }
        for (int task = 0; task < 4; task++) {
            assertThat(counts[task] / 1e5).isCloseTo(balance.share(task), within(0.01));
        }
    }

    @Test
    void tasksThatComeAndGoLeaveASumOfOne() {
        LatencyBalance balance = of(4);
        for (int i = 0; i < 5; i++) {
            period(balance, 40, 10, 20, 30);
        }
        assertShares(balance, 0.20, 0.30, 0.30, 0.20);
        balance.setTasks(0, 1, 2, 3, 4);
        assertShares(balance, 0.16, 0.24, 0.24, 0.16, 0.2);
        balance.setTasks(0, 1);
        assertShares(balance, 0.4, 0.6);
    }

    @Test
    void ifOnlyTasksWithoutAShareStayTheyGetEvenOnes() {
        LatencyBalance balance = of(2);
        for (int i = 0; i < 60; i++) {
            period(balance, 90, 10);
        }
        balance.setTasks(0);
        assertShares(balance, 1);
    }
}
