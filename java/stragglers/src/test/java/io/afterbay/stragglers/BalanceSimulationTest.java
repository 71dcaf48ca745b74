package io.afterbay.stragglers;

import static io.afterbay.stragglers.OperatorSimulation.Policy.LATENCY_BALANCE;
import static io.afterbay.stragglers.OperatorSimulation.Policy.SHUFFLE;
import static io.afterbay.stragglers.OperatorSimulation.Policy.TWO_CHOICES;
import static io.afterbay.stragglers.VirtualTime.MILLIS;
import static io.afterbay.stragglers.VirtualTime.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.stragglers.OperatorSimulation.Policy;
import io.afterbay.testing.TestForm;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What policies do about one slow task of four, in simulated time. Evenly spread, the tuples keep a
 * task at full speed busy for 31 % of its time, and one that is three times slower for 93 %.
 */
class BalanceSimulationTest {
    private static final double ARRIVALS_PER_SECOND = 560;
    private static final int TASKS = 4;
    private static final int SLOW = 0;

    /** A policy that never forgives a slow task that is idle. */
    private static final Policy UNFORGIVING =
            (time, seed) -> new TwoChoices(time::now, seed, Double.POSITIVE_INFINITY);

    static LongStream seeds() {
        return LongStream.rangeClosed(1, TestForm.STRAGGLER_SEEDS);
    }

    private static OperatorSimulation start(Policy policy, long seed) {
        return start(policy, 1, seed);
    }

    private static OperatorSimulation start(Policy policy, int senders, long seed) {
        return new OperatorSimulation(TASKS, senders, ARRIVALS_PER_SECOND, seed, policy);
    }

    /** After some time at even speeds, a task has become that much slower. */
    private static OperatorSimulation slowed(OperatorSimulation operator, double times) {
        operator.run(20 * SECONDS);
        operator.slow(SLOW, times);
        return operator;
    }

    private static double p99(Policy policy, long seed, long settlingNanos) {
        OperatorSimulation operator = slowed(start(policy, seed), 3);
        operator.run(settlingNanos);
        operator.run(300 * SECONDS);
        return operator.latencyMillis(99);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void twoChoicesAreBetterThanTheBalanceAndThatThanTheShuffle(long seed) {
        long settling = 300 * SECONDS; // the balance takes 125 s at least
        double twoChoices = p99(TWO_CHOICES, seed, settling);
        double balance = p99(LATENCY_BALANCE, seed, settling);
        double shuffle = p99(SHUFFLE, seed, settling);
        assertThat(twoChoices).isLessThan(balance);
        assertThat(balance).isLessThan(shuffle / 2);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void whileTheBalanceShiftsTwoChoicesAreFarBetter(long seed) {
        assertThat(p99(TWO_CHOICES, seed, 0)).isLessThan(p99(LATENCY_BALANCE, seed, 0) / 1.5);
    }

    /** Evenly spread, the slow task would get more than it can do. */
    @ParameterizedTest
    @MethodSource("seeds")
    void twoChoicesBearMoreThanEvenSharesWould(long seed) {
        assertThat(p99Overloaded(TWO_CHOICES, seed)).isLessThan(30);
        assertThat(p99Overloaded(SHUFFLE, seed)).isGreaterThan(1_000);
    }

    private static double p99Overloaded(Policy policy, long seed) {
        OperatorSimulation operator =
                slowed(new OperatorSimulation(TASKS, 1, 800, seed, policy), 3);
        operator.run(10 * SECONDS);
        operator.run(60 * SECONDS);
        return operator.latencyMillis(99);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void ninetyPercentOfTheShiftIsDoneAfterTenSeconds(long seed) {
        assertThat(shiftAfterTenSeconds(TWO_CHOICES, 1, seed)).isGreaterThan(0.9);
        assertThat(shiftAfterTenSeconds(TWO_CHOICES, 4, seed)).isGreaterThan(0.9);
        // Negative controls: 1 % of the traffic is a twentieth, and the shuffle has no shift.
        assertThat(shiftAfterTenSeconds(LATENCY_BALANCE, 1, seed)).isLessThan(0.2);
        assertThat(slowShares(SHUFFLE, 1, seed)[1]).isBetween(0.22, 0.28);
    }

    /** How much of the way from the even share to the final one. */
    private static double shiftAfterTenSeconds(Policy policy, int senders, long seed) {
        double[] shares = slowShares(policy, senders, seed);
        double even = 1.0 / TASKS;
        return (even - shares[0]) / (even - shares[1]);
    }

    /** The slow task's share around ten seconds after, and in the end. */
    private static double[] slowShares(Policy policy, int senders, long seed) {
        OperatorSimulation operator = slowed(start(policy, senders, seed), 3);
        operator.run(8 * SECONDS);
        operator.run(4 * SECONDS);
        double soon = operator.share(SLOW);
        operator.run(300 * SECONDS);
        operator.run(100 * SECONDS);
        return new double[] {soon, operator.share(SLOW)};
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void sharesAreEvenThirtySecondsAfterATaskHasRecovered(long seed) {
        for (double times : new double[] {3, 50, 1000}) {
            assertThat(shareAfterRecovery(TWO_CHOICES, times, seed)).isBetween(0.22, 0.28);
        }
        // Negative controls: without ageing, and the paper's balance, which has no way back.
        assertThat(shareAfterRecovery(UNFORGIVING, 1000, seed)).isLessThan(0.05);
        assertThat(shareAfterRecovery(LATENCY_BALANCE, 3, seed)).isZero();
    }

    /** The share of a task from 30 s after it was slow for 200 s. */
    private static double shareAfterRecovery(Policy policy, double times, long seed) {
        OperatorSimulation operator = slowed(start(policy, seed), times);
        operator.run(200 * SECONDS);
        operator.slow(SLOW, 1);
        operator.run(30 * SECONDS);
        operator.run(30 * SECONDS);
        return operator.share(SLOW);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void noTaskStarves(long seed) {
        for (int senders : new int[] {1, 4}) {
            assertThat(leastShareOfASecond(TWO_CHOICES, senders, seed)).isGreaterThan(0);
        }
        assertThat(leastShareOfASecond(LATENCY_BALANCE, 1, seed)).isZero(); // negative control
    }

    /** In any of 200 s, of any task, one of which is three times slower. */
    private static double leastShareOfASecond(Policy policy, int senders, long seed) {
        OperatorSimulation operator = slowed(start(policy, senders, seed), 3);
        double least = 1;
        for (int second = 0; second < 200; second++) {
            operator.run(SECONDS);
            for (int task = 0; task < TASKS; task++) {
                least = Math.min(least, operator.share(task));
            }
        }
        return least;
    }

    /** What comes behind an operator hides what its tasks differ in, but not an overload. */
    @ParameterizedTest
    @MethodSource("seeds")
    void isOfUseAlsoWhereMostOfTheLatencyIsBehindTheOperator(long seed) {
        assertThat(p99BeforeOthers(TWO_CHOICES, seed))
                .isLessThan(p99BeforeOthers(SHUFFLE, seed) / 3);
    }

    private static double p99BeforeOthers(Policy policy, long seed) {
        OperatorSimulation operator = start(policy, seed);
        operator.downstreamNanos = () -> 20 * MILLIS;
        slowed(operator, 3).run(10 * SECONDS);
        operator.run(300 * SECONDS);
        return operator.latencyMillis(99);
    }
}
