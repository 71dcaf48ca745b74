package io.afterbay.stragglers;

import static io.afterbay.stragglers.VirtualTime.MILLIS;
import static io.afterbay.stragglers.VirtualTime.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.stragglers.OperatorSimulation.Policy;
import io.afterbay.stragglers.Replays.Incarnation;
import io.afterbay.testing.TestForm;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What replays do about single tasks that stop for 100 ms now and then, in simulated time, where
 * the paper's conditions hold: four tasks are busy for 11 % of their time, and tuples are shuffled.
 */
class ReplaySimulationTest {
    private static final double ARRIVALS_PER_SECOND = 200;
    private static final double STALLS_PER_SECOND = 0.3;
    private static final long STALL_NANOS = 100 * MILLIS;
    private static final int TASKS = 4;
    private static final double SHARE = ReplayBudget.SHARE_DEFAULT;

    static LongStream seeds() {
        return LongStream.rangeClosed(1, TestForm.STRAGGLER_SEEDS);
    }

    /** A source before an operator. */
    private static final class Source {
        private final OperatorSimulation operator;
        private final VirtualTime time;
        private final TaskChooser chooser;
        private final ReplayBudget budget;
        private final Replays<Long> replays;
        private long emitted;

        Source(double share, double lateShareMax, double stallsPerSecond, long seed) {
            operator = new OperatorSimulation(TASKS, 0, 0, seed, Policy.SHUFFLE);
            time = operator.time;
            chooser = Policy.SHUFFLE.of(time, seed);
            chooser.setTasks(0, 1, 2, 3);
            budget = new ReplayBudget(share, ReplayBudget.BURST_DEFAULT);
            budget.utilisation(0.11, 0.11);
            AdaptiveTimeout timeout = new AdaptiveTimeout(time::now, lateShareMax);
            replays = new Replays<>(timeout, budget, time::now);
            SplittableRandom random = new SplittableRandom(seed);
            time.repeat(random.split(), ARRIVALS_PER_SECOND, this::emit);
            time.repeat(random.split(), 1_000, this::replay);
            SplittableRandom stalled = random.split();
            time.repeat(
                    random.split(),
                    stallsPerSecond,
                    () -> operator.stall(stalled.nextInt(TASKS), STALL_NANOS));
        }

        private void emit() {
            emitted++;
            send(replays.emit(time.now()), chooser.choose());
        }

        private void replay() {
            Incarnation<Long> late = replays.next();
            while (late != null) {
                int original = late.original().hops()[0];
                int task = chooser.chooseOther(original);
                assertThat(task).isNotEqualTo(original);
                send(late, task);
                late = replays.next();
            }
        }

        private void send(Incarnation<Long> incarnation, int task) {
            incarnation.sentTo(task);
            operator.give(
                    task,
                    () -> {
                        if (replays.finished(incarnation)) {
                            operator.latencies.recordValue(time.now() - incarnation.content());
                        }
                    });
        }

        Source run() {
            operator.run(10 * SECONDS);
            operator.run(300 * SECONDS);
            return this;
        }

        double p99() {
            return operator.latencyMillis(99);
        }

        double p999() {
            return operator.latencyMillis(99.9);
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void replaysCutTheTailOfStallsWithinTheirBudget(long seed) {
        Source none = new Source(0, SHARE, STALLS_PER_SECOND, seed).run();
        Source some = new Source(SHARE, SHARE, STALLS_PER_SECOND, seed).run();
        assertThat(some.p999()).isLessThan(0.7 * none.p999());
        assertThat(some.budget.replays())
                .isBetween(1L, (long) (SHARE * some.emitted) + ReplayBudget.BURST_DEFAULT);
        assertThat(some.replays.replaysThatWon()).isGreaterThan(some.budget.replays() / 3);
        assertThat(none.budget.replays()).isZero(); // negative control: a budget of nothing
        assertThat(none.p999()).isGreaterThan(0.7 * STALL_NANOS / MILLIS);
    }

    /** Why there is a least percentile. */
    @ParameterizedTest
    @MethodSource("seeds")
    void asPrintedTheTimeoutSpendsTheBudgetOnTuplesThatAreALittleLate(long seed) {
        Source printed = new Source(SHARE, 1, STALLS_PER_SECOND, seed).run();
        Source bounded = new Source(SHARE, SHARE, STALLS_PER_SECOND, seed).run();
        assertThat(bounded.budget.replays()).isLessThan(printed.budget.replays());
        assertThat(bounded.p999()).isLessThan(0.8 * printed.p999());
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void withoutStallsReplaysDoNoHarm(long seed) {
        Source none = new Source(0, SHARE, 1e-9, seed).run();
        Source some = new Source(SHARE, SHARE, 1e-9, seed).run();
        assertThat(some.p99()).isLessThan(1.05 * none.p99());
        assertThat(some.p999()).isLessThan(1.05 * none.p999());
    }
}
