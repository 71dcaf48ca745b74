package io.afterbay.storm.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.storm.workloads.HeldTopology.Plan;
import io.afterbay.testing.Await;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.apache.storm.generated.StormTopology;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A shared queue that is full is Storm's backpressure, on real Storm in this process: its threads
 * of the bolt wait for a place, its own queues fill behind them, and it no longer asks the spout.
 * Tuples are counted; no time is asserted.
 */
class BackpressureTest extends EmbeddedStormSuite {
    private static final int WORDS = 1_000;
    private static final int CAPACITY = 8;
    private static final int TASKS = 3;

    /** A spout that has waited so long, and was not asked meanwhile, does not go on by itself. */
    private static final long HELD_UP_MS = 200;

    private static HeldRun submit(Plan plan, StormTopology topology) throws Exception {
        return HeldRun.submit(storm(), plan, topology);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, TASKS})
    void aFullSharedQueueHoldsUpTheSpoutUntilThereIsRoom(int tasks) throws Exception {
        Plan plan = new Plan("full-" + tasks, WORDS, tasks, CAPACITY);
        try (HeldRun run = submit(plan, HeldTopology.shared(plan))) {
            Await.until(
                    run::toString,
                    isHeldUp(
                            run,
                            asksMax(tasks),
                            () -> run.begun().size() == tasks && run.waiting() == CAPACITY));
            // In the shared queue, at the tasks, and one that the spout could not get rid of.
            assertThat(run.asks()).isGreaterThan(CAPACITY + tasks);
            assertThat(run.measured().ackedWords()).isZero();
            run.letGo();
            assertThatAllAreDoneOnce(run);
            if (tasks == 1) {
                assertThat(run.begun()).as("in the spout's order").isEqualTo(words());
            }
        }
    }

    /** Its threads are not Storm's, and must not go on when Storm's own would have to wait. */
    @Test
    void whatIsFullBehindASharedBoltHoldsUpTheSpoutToo() throws Exception {
        Plan plan = new Plan("behind", WORDS, TASKS, CAPACITY);
        try (HeldRun run = submit(plan, HeldTopology.behindShared(plan))) {
            Await.until(run::toString, isHeldUp(run, WORDS - 1, () -> run.begun().size() == TASKS));
            assertThat(run.measured().ackedWords()).isZero();
            run.letGo();
            assertThatAllAreDoneOnce(run);
        }
    }

    /** The control: tasks that stand still do not hold up the spout while the queue has room. */
    @Test
    void aSharedQueueWithRoomForAllHoldsUpNothing() throws Exception {
        Plan plan = new Plan("room", WORDS, TASKS, WORDS);
        try (HeldRun run = submit(plan, HeldTopology.shared(plan))) {
            Await.until(
                    run::toString,
                    () ->
                            run.waiting() == WORDS - TASKS
                                    && run.begun().size() == TASKS
                                    && run.asks() >= WORDS);
            assertThat(run.begun()).hasSize(TASKS);
            assertThat(run.asks()).isGreaterThan(asksMax(TASKS)).isGreaterThanOrEqualTo(WORDS);
            assertThat(run.measured().ackedWords()).isZero();
            run.letGo();
            assertThatAllAreDoneOnce(run);
        }
    }

    /**
     * Queues are full, and Storm does not ask any more, but waits for room.
     *
     * @param asksMax how often Storm may have asked by then
     * @param isFull whether all that is to be full before that is
     */
    private static Callable<Boolean> isHeldUp(HeldRun run, int asksMax, BooleanSupplier isFull) {
        return new Callable<>() {
            private int asks = -1;
            private long sinceMs;

            @Override
            public Boolean call() {
                long heldUpMs = run.heldUpMs();
                int now = run.asks();
                assertThat(now).as(run::toString).isLessThanOrEqualTo(asksMax);
                if (now != asks || !run.isAnyReceiveQueueFull() || !isFull.getAsBoolean()) {
                    asks = now;
                    sinceMs = heldUpMs;
                }
                return heldUpMs - sinceMs >= HELD_UP_MS;
            }
        };
    }

    /**
     * Each task has one, and Storm's thread of each task another one, for which it waits for a
     * place. When all queues are full, Storm has asked once more.
     */
    private static int asksMax(int tasks) {
        return CAPACITY + 2 * tasks + tasks * HeldTopology.RECEIVE_QUEUE + 1;
    }

    private static void assertThatAllAreDoneOnce(HeldRun run) throws Exception {
        Measured measured = run.measured();
        Await.until(run::toString, () -> measured.ackedWords() == WORDS);
        assertThat(measured.twice()).isZero();
        assertThat(measured.failures()).isZero();
        assertThat(run.begun()).containsExactlyInAnyOrderElementsOf(words());
    }

    private static List<Integer> words() {
        return IntStream.range(0, WORDS).boxed().toList();
    }
}
