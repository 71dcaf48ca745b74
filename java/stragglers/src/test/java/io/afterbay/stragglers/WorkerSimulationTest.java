package io.afterbay.stragglers;

import static io.afterbay.stragglers.PathSimulation.Senders.BALANCED;
import static io.afterbay.stragglers.PathSimulation.Senders.LATENCY_BALANCE;
import static io.afterbay.stragglers.PathSimulation.Senders.OWN_WORKER;
import static io.afterbay.stragglers.PathSimulation.Senders.SHUFFLE;
import static io.afterbay.stragglers.VirtualTime.MILLIS;
import static io.afterbay.stragglers.VirtualTime.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.stragglers.PathSimulation.Senders;
import io.afterbay.testing.TestForm;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Five workers, of which one has half of a machine (Du &amp; Gupta 2016, table 3, scenario c), and
 * workers that stand still now and then, in simulated time. Evenly spread, tuples keep the
 * processors of a whole machine busy for 40 % of their time, and that of the half one for 81 %.
 */
class WorkerSimulationTest {
    private static final double ARRIVALS_PER_SECOND = 607.5;
    private static final List<Integer> ALIKE = List.of(2, 2, 2, 2, 2);
    private static final List<Integer> ONE_HALF = List.of(1, 2, 2, 2, 2);
    private static final int HALF = 0;

    /** One that stands still for some time. */
    private static final int STALLED = 3;

    static LongStream seeds() {
        return LongStream.rangeClosed(1, TestForm.STRAGGLER_SEEDS);
    }

    private static PathSimulation start(Senders policy, List<Integer> processors, long seed) {
        PathSimulation workers = new PathSimulation(policy, processors, ARRIVALS_PER_SECOND, seed);
        workers.run(20 * SECONDS);
        return workers;
    }

    private static double p99(Senders policy, List<Integer> processors, long seed) {
        return p99(start(policy, processors, seed));
    }

    private static double p99(PathSimulation workers) {
        workers.run(200 * SECONDS);
        return workers.latencyMillis(99);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void halfAMachineMakesLessOfATailThanByOthers(long seed) {
        double balanced = p99(BALANCED, ONE_HALF, seed);
        assertThat(balanced).isLessThan(p99(LATENCY_BALANCE, ONE_HALF, seed));
        assertThat(p99(SHUFFLE, ONE_HALF, seed)).isGreaterThan(1.8 * balanced);
        assertThat(p99(OWN_WORKER, ONE_HALF, seed)).isGreaterThan(1.8 * balanced);
    }

    /** Also while workers stand still for 100 ms, one each second. */
    @ParameterizedTest
    @MethodSource("seeds")
    void stallsMakeLessOfATailThanByOthers(long seed) {
        double balanced = p99WithStalls(BALANCED, seed);
        for (Senders other : List.of(LATENCY_BALANCE, SHUFFLE, OWN_WORKER)) {
            assertThat(p99WithStalls(other, seed)).isGreaterThan(1.4 * balanced);
        }
    }

    private static double p99WithStalls(Senders policy, long seed) {
        PathSimulation workers = start(policy, ONE_HALF, seed);
        SplittableRandom random = new SplittableRandom(seed);
        workers.time.repeat(
                random, 1, () -> workers.stall(random.nextInt(workers.workers()), 100 * MILLIS));
        return p99(workers);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void ofEqualWorkersNoneGetsLessAndTheTailIsNoLonger(long seed) {
        PathSimulation workers = start(BALANCED, ALIKE, seed);
        double p99 = p99(workers);
        for (int worker = 0; worker < workers.workers(); worker++) {
            assertThat(workers.share(worker)).isBetween(0.18, 0.22);
        }
        assertThat(p99).isLessThan(p99(SHUFFLE, ALIKE, seed));
    }

    /**
     * A worker that stands still for a moment has as many slow tuples as it had under way, and is
     * not avoided for longer than it takes to see that it is back.
     */
    @ParameterizedTest
    @MethodSource("seeds")
    void aWorkerThatStoodStillHasItsShareBackSoon(long seed) {
        for (List<Integer> processors : List.of(ALIKE, ONE_HALF)) {
            assertThat(shareAfterStall(processors, 300 * MILLIS, 3 * SECONDS, seed))
                    .isBetween(0.14, 0.27);
            assertThat(shareAfterStall(processors, SECONDS, 9 * SECONDS, seed))
                    .isBetween(0.14, 0.27);
        }
    }

    /** Of two seconds, on average over ten stalls. */
    private static double shareAfterStall(
            List<Integer> processors, long nanos, long afterNanos, long seed) {
        PathSimulation workers = start(BALANCED, processors, seed);
        double sum = 0;
        for (int i = 0; i < 10; i++) {
            workers.stall(STALLED, nanos);
            workers.run(afterNanos);
            workers.run(2 * SECONDS);
            sum += workers.share(STALLED) / 10;
            workers.run(20 * SECONDS);
        }
        return sum;
    }

    /** What came while all stood still goes where there is room for it. */
    @ParameterizedTest
    @MethodSource("seeds")
    void aBacklogOfAllWorkersIsGoneWithinSeconds(long seed) {
        assertThat(p99AfterStandstill(BALANCED, seed)).isLessThan(100);
        assertThat(p99AfterStandstill(SHUFFLE, seed)).isGreaterThan(1_000);
    }

    /** From the fifth to the eighth second after three of standstill. */
    private static double p99AfterStandstill(Senders policy, long seed) {
        PathSimulation workers = start(policy, ONE_HALF, seed);
        for (int worker = 0; worker < workers.workers(); worker++) {
            workers.stall(worker, 3 * SECONDS);
        }
        workers.run(8 * SECONDS);
        workers.run(3 * SECONDS);
        return workers.latencyMillis(99);
    }

    /** Nine tenths of what a worker loses within 10 s, and of what it gets back within 30 s. */
    @ParameterizedTest
    @MethodSource("seeds")
    void aWorkerThatLosesAProcessorLosesItsShareSoonAndGetsItBack(long seed) {
        PathSimulation workers = start(BALANCED, ALIKE, seed);
        workers.setProcessors(HALF, 1);
        workers.run(8 * SECONDS);
        workers.run(4 * SECONDS);
        double soon = workers.share(HALF);
        workers.run(200 * SECONDS);
        double later = workers.share(HALF);
        assertThat(later).isBetween(0.09, 0.15);
        assertThat(0.2 - soon).isGreaterThan(0.9 * (0.2 - later) - 0.02);
        workers.setProcessors(HALF, 2);
        workers.run(28 * SECONDS);
        workers.run(4 * SECONDS);
        assertThat(workers.share(HALF)).isGreaterThan(later + 0.9 * (0.2 - later) - 0.02);
    }
}
