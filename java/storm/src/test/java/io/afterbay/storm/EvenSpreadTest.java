package io.afterbay.storm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.afterbay.stragglers.TaskChooser;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.storm.generated.NodeInfo;
import org.apache.storm.grouping.Load;
import org.apache.storm.grouping.LoadMapping;
import org.junit.jupiter.api.Test;

/** How many tuples leave a worker with task 1 of a bolt with tasks 1, 2 and 3. */
class EvenSpreadTest {
    private static final List<Integer> TASKS = List.of(1, 2, 3);
    private static final List<Integer> HERE = List.of(1);
    private static final int TUPLES = 3_000;

    /** An acker, which each worker has. */
    private static final int ACKER = 100;

    private final AtomicReference<Map<Integer, NodeInfo>> places = new AtomicReference<>(Map.of());
    private final AtomicLong nanos = new AtomicLong();

    /**
     * As many workers as there are numbers.
     *
     * @param tasksOfWorkers how many of the bolt's tasks each has
     */
    private void place(int... tasksOfWorkers) {
        Map<Integer, NodeInfo> placed = new HashMap<>();
        int task = 1;
        for (int i = 0; i < tasksOfWorkers.length; i++) {
            NodeInfo worker = new NodeInfo("node-" + i, Set.of(6700L));
            placed.put(ACKER + i, worker);
            for (int j = 0; j < tasksOfWorkers[i]; j++) {
                placed.put(task++, worker);
            }
        }
        places.set(placed);
    }

    /** How many tuples stay, and how many go to 2 and 3. */
    private static int[] counts(EvenSpread spread) {
        int[] counts = new int[3];
        for (int i = 0; i < TUPLES; i++) {
            int task = spread.next();
            counts[task == TaskChooser.NO_TASK ? 0 : task - 1]++;
        }
        return counts;
    }

    private static void assertCounts(EvenSpread spread, int... expected) {
        int[] counts = counts(spread);
        for (int i = 0; i < expected.length; i++) {
            assertThat(counts[i]).isCloseTo(expected[i], within(4));
        }
    }

    private EvenSpread spread(double sendersHere) {
        return new EvenSpread(TASKS, HERE, sendersHere, places, nanos::get);
    }

    private void refresh(EvenSpread spread, LoadMapping loads, int afterS) {
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(afterS));
        spread.refresh(loads);
    }

    @Test
    void allStayWhereAWorkerHasAsManyOfTheSendersAsOfTheTasks() {
        place(1, 1, 1);
        assertThat(spread(1 / 3.0).share()).isEqualTo(1);
        assertCounts(spread(1 / 3.0), TUPLES, 0, 0);
        assertCounts(spread(0.1), TUPLES, 0, 0);
    }

    @Test
    void theRestLeavesWhereItHasMoreOfTheSenders() {
        place(1, 1, 1);
        assertCounts(spread(2 / 3.0), TUPLES / 2, TUPLES / 4, TUPLES / 4);
        assertCounts(spread(1), TUPLES / 3, TUPLES / 3, TUPLES / 3);
    }

    /** Whose tuples come on top of those of the worker's own senders. */
    @Test
    void allTasksGetAsManyWhereAWorkerHasNone() {
        place(1, 1, 1, 0, 0);
        EvenSpread spread = spread(1 / 3.0);
        assertThat(spread.share()).isCloseTo(1 / 3.0, within(1e-9));
        assertCounts(spread, TUPLES / 3, TUPLES / 3, TUPLES / 3);
        place(1, 2);
        refresh(spread, new LoadMapping(), 0);
        assertThat(spread.share()).as("placed anew").isEqualTo(1);
    }

    /** A spread after each tuple, and not only in the end: nothing waits behind a row of them. */
    @Test
    void whatStaysAndWhatLeavesTakeTurns() {
        place(1, 1, 1);
        EvenSpread spread = spread(2 / 3.0);
        int staying = 0;
        for (int i = 1; i <= TUPLES; i++) {
            staying += spread.next() == TaskChooser.NO_TASK ? 1 : 0;
            assertThat((double) staying).isCloseTo(i / 2.0, within(4.0));
        }
    }

    @Test
    void allLeaveWhereThereIsNoTask() {
        place(1, 1, 1, 0);
        EvenSpread spread = new EvenSpread(TASKS, List.of(), 1, places, nanos::get);
        int[] counts = new int[4];
        for (int i = 0; i < TUPLES; i++) {
            counts[spread.next()]++;
        }
        for (int task : TASKS) {
            assertThat(counts[task]).isCloseTo(TUPLES / 3, within(4));
        }
    }

    @Test
    void beforeStormHasPlacedAnythingTheNumbersCount() {
        assertThat(spread(1 / 3.0).share()).isEqualTo(1);
        assertThat(spread(1).share()).isCloseTo(1 / 3.0, within(1e-9));
    }

    @Test
    void aTaskElsewhereGetsTheLessTheFullerItsQueueIs() {
        place(1, 1, 1);
        EvenSpread spread = spread(1);
        refresh(spread, loads(0.55, 0.5), 5);
        assertCounts(spread, TUPLES / 3, TUPLES * 2 / 9, TUPLES * 4 / 9);
        refresh(spread, loads(1, 0), 10);
        assertThat(counts(spread)[1]).as("so that a change is noticed").isBetween(10, 30);
        refresh(spread, loads(1, 1), 10);
        assertCounts(spread, TUPLES / 3, TUPLES / 3, TUPLES / 3);
    }

    /** Some workers tell of their queues sooner than others, and that is no reason to wait. */
    @Test
    void itGetsLessStepByStep() {
        place(1, 1, 1);
        EvenSpread spread = spread(1);
        refresh(spread, loads(1, 0), 1);
        assertCounts(spread, TUPLES / 3, TUPLES * 18 / 57, TUPLES * 20 / 57);
        for (int i = 0; i < 100; i++) {
            refresh(spread, loads(1, 0), 0); // by another sender
        }
        assertCounts(spread, TUPLES / 3, TUPLES * 18 / 57, TUPLES * 20 / 57);
        refresh(spread, loads(0, 0), 1);
        assertCounts(spread, TUPLES / 3, TUPLES / 3, TUPLES / 3);
    }

    /** What was sent there would wait for nobody. */
    @Test
    void aTaskWhoseWorkerIsGoneGetsHardlyAnything() {
        place(1, 1, 1);
        EvenSpread spread = spread(1);
        LoadMapping loads = new LoadMapping();
        loads.setRemote(Map.of(3, new Load(true, 0.5, 0)));
        refresh(spread, loads, 10);
        assertThat(counts(spread)[1]).as("not connected").isLessThan(30);
        loads.setRemote(Map.of(2, new Load(true, 0, 0), 3, new Load(true, 0, 0.9)));
        refresh(spread, loads, 10);
        assertThat(counts(spread)[2]).as("what is sent is not received").isLessThan(30);
    }

    @Test
    void anExecutorsOtherTasksAreAsFullAsItsFirstOne() {
        place(1, 2);
        EvenSpread spread = spread(1);
        LoadMapping loads = new LoadMapping();
        loads.setRemote(Map.of(2, new Load(true, 0.3, 0)));
        refresh(spread, loads, 10);
        assertCounts(spread, TUPLES / 3, TUPLES / 3, TUPLES / 3);
    }

    @Test
    void whileNobodyIsConnectedAllGetAsMany() {
        place(1, 1, 1);
        EvenSpread spread = spread(1);
        refresh(spread, new LoadMapping(), 10);
        assertCounts(spread, TUPLES / 3, TUPLES / 3, TUPLES / 3);
    }

    private static LoadMapping loads(double second, double third) {
        LoadMapping loads = new LoadMapping();
        loads.setLocal(Map.of(1, 0.0));
        loads.setRemote(Map.of(2, new Load(true, second, 0), 3, new Load(true, third, 0)));
        return loads;
    }
}
