package io.afterbay.stragglers;

import static io.afterbay.stragglers.OperatorSimulation.Policy.BY_ACKS;
import static io.afterbay.stragglers.OperatorSimulation.Policy.LATENCY_BALANCE;
import static io.afterbay.stragglers.OperatorSimulation.Policy.SHUFFLE;
import static io.afterbay.stragglers.OperatorSimulation.Policy.TWO_CHOICES;
import static io.afterbay.stragglers.VirtualTime.MILLIS;
import static io.afterbay.stragglers.VirtualTime.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.stragglers.OperatorSimulation.Policy;
import io.afterbay.testing.TestForm;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What a source can do that hears of its tuples only by acks, when the whole path is done: five
 * tasks, and behind them what takes 20 ms. In simulated time.
 */
class AckSimulationTest {
    private static final int TASKS = 5;
    private static final int SLOW = 0;
    private static final double ARRIVALS_PER_SECOND = 600;

    /** Evenly spread, more than a task can do that is three times slower. */
    private static final double MANY_PER_SECOND = 1000;

    static LongStream seeds() {
        return LongStream.rangeClosed(1, TestForm.STRAGGLER_SEEDS);
    }

    /** What comes behind the tasks. */
    private enum Path {
        SAME {
            @Override
            LongSupplier delay(long seed) {
                return () -> 20 * MILLIS;
            }
        },
        RANDOM {
            @Override
            LongSupplier delay(long seed) {
                SplittableRandom random = new SplittableRandom(seed);
                return () -> VirtualTime.exponential(random, 20 * MILLIS);
            }
        },
        /** Of 50 tuples, one takes 200 ms. */
        HEAVY_TAILED {
            @Override
            LongSupplier delay(long seed) {
                SplittableRandom random = new SplittableRandom(seed);
                return () -> random.nextInt(50) == 0 ? 200 * MILLIS : 5 * MILLIS;
            }
        };

        abstract LongSupplier delay(long seed);
    }

    private static OperatorSimulation start(
            Policy policy, Path path, int senders, double arrivalsPerSecond, long seed) {
        OperatorSimulation operator =
                new OperatorSimulation(TASKS, senders, arrivalsPerSecond, seed, policy);
        operator.downstreamNanos = path.delay(seed);
        operator.run(20 * SECONDS);
        return operator;
    }

    /** From 10 s after a task has become that much slower. */
    private static OperatorSimulation slowed(OperatorSimulation operator, double times) {
        operator.slow(SLOW, times);
        operator.run(10 * SECONDS);
        operator.run(100 * SECONDS);
        return operator;
    }

    private static double p99(Policy policy, Path path, double perSecond, double times, long seed) {
        return slowed(start(policy, path, 1, perSecond, seed), times).latencyMillis(99);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void aSlowTaskMakesLessOfATailThanByTheShuffleOrThePapersBalance(long seed) {
        for (double times : new double[] {3, 10}) {
            double acks = p99(BY_ACKS, Path.SAME, ARRIVALS_PER_SECOND, times, seed);
            assertThat(acks).isLessThan(60);
            assertThat(p99(SHUFFLE, Path.SAME, ARRIVALS_PER_SECOND, times, seed))
                    .isGreaterThan(1.5 * acks);
            assertThat(p99(LATENCY_BALANCE, Path.SAME, ARRIVALS_PER_SECOND, times, seed))
                    .isGreaterThan(acks);
        }
    }

    /** Which take the whole path for the task's service. */
    @ParameterizedTest
    @MethodSource("seeds")
    void isBetterThanTheChoiceByServiceTimes(long seed) {
        double acks =
                slowed(start(BY_ACKS, Path.SAME, 4, ARRIVALS_PER_SECOND, seed), 10).share(SLOW);
        double services =
                slowed(start(TWO_CHOICES, Path.SAME, 4, ARRIVALS_PER_SECOND, seed), 10).share(SLOW);
        assertThat(acks).isLessThan(services / 1.4);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void bearsMoreThanEvenSharesWould(long seed) {
        assertThat(p99(BY_ACKS, Path.SAME, MANY_PER_SECOND, 3, seed)).isLessThan(65);
        assertThat(p99(SHUFFLE, Path.SAME, MANY_PER_SECOND, 3, seed)).isGreaterThan(1_000);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void ofEqualTasksNoneGetsLessAndTheTailIsNoLonger(long seed) {
        for (Path path : Path.values()) {
            for (int senders : new int[] {1, 4}) {
                OperatorSimulation acks =
                        slowed(start(BY_ACKS, path, senders, ARRIVALS_PER_SECOND, seed), 1);
                for (int task = 0; task < TASKS; task++) {
                    assertThat(acks.share(task)).as("%s", path).isBetween(0.18, 0.22);
                }
                double shuffle = p99(SHUFFLE, path, ARRIVALS_PER_SECOND, 1, seed);
                assertThat(acks.latencyMillis(99)).as("%s", path).isLessThan(1.03 * shuffle);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void whatTheRestOfThePathTakesMayBeRandom(long seed) {
        for (Path path : new Path[] {Path.RANDOM, Path.HEAVY_TAILED}) {
            OperatorSimulation acks = slowed(start(BY_ACKS, path, 1, ARRIVALS_PER_SECOND, seed), 3);
            assertThat(acks.share(SLOW)).as("%s", path).isLessThan(0.135);
        }
    }

    /** Information that is late makes no waves: each second, each task gets about its share. */
    @ParameterizedTest
    @MethodSource("seeds")
    void nothingOscillates(long seed) {
        OperatorSimulation operator = start(BY_ACKS, Path.SAME, 1, ARRIVALS_PER_SECOND, seed);
        for (int i = 0; i < 200; i++) {
            operator.run(SECONDS);
            for (int task = 0; task < TASKS; task++) {
                assertThat(operator.share(task)).isBetween(0.1, 0.3);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void sharesAreEvenThirtySecondsAfterATaskHasRecovered(long seed) {
        for (Path path : Path.values()) {
            for (double times : new double[] {3, 50, 1000}) {
                OperatorSimulation operator =
                        slowed(start(BY_ACKS, path, 1, ARRIVALS_PER_SECOND, seed), times);
                assertThat(operator.share(SLOW)).isBetween(1e-5, 0.15);
                operator.slow(SLOW, 1);
                operator.run(30 * SECONDS);
                operator.run(30 * SECONDS);
                assertThat(operator.share(SLOW)).as("%s %s", path, times).isBetween(0.17, 0.23);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void aTaskThatHangsForTenSecondsHoldsUpFewTuples(long seed) {
        assertThat(heldUp(BY_ACKS, seed)).isBetween(1L, 30L);
        assertThat(heldUp(SHUFFLE, seed)).isGreaterThan(1000);
    }

    private static long heldUp(Policy policy, long seed) {
        OperatorSimulation operator = start(policy, Path.SAME, 1, ARRIVALS_PER_SECOND, seed);
        operator.stall(SLOW, 10 * SECONDS);
        operator.run(30 * SECONDS);
        return operator.latencies.getCountBetweenValues(200 * MILLIS, 100 * SECONDS);
    }

    /** Of 100 tuples one is lost behind the tasks, and fails 30 s later. */
    @ParameterizedTest
    @MethodSource("seeds")
    void tuplesThatAreLostElsewhereBlameNoTask(long seed) {
        OperatorSimulation operator = start(BY_ACKS, Path.SAME, 1, ARRIVALS_PER_SECOND, seed);
        SplittableRandom random = new SplittableRandom(seed);
        operator.isLost = () -> random.nextInt(100) == 0;
        operator.run(60 * SECONDS);
        for (int i = 0; i < 10; i++) {
            operator.run(10 * SECONDS);
            for (int task = 0; task < TASKS; task++) {
                assertThat(operator.share(task)).isBetween(0.17, 0.23);
            }
            assertThat(operator.latencyMillis(99)).isLessThan(36);
        }
        slowed(operator, 3);
        assertThat(operator.share(SLOW)).isLessThan(0.135);
        assertThat(operator.latencyMillis(99)).isLessThan(50);
    }
}
