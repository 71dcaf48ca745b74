package io.afterbay.storm;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.stragglers.TaskChooser;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.storm.grouping.Load;
import org.apache.storm.grouping.LoadMapping;
import org.junit.jupiter.api.Test;

/** How a worker's senders choose, of a bolt with tasks 1 to 4. */
class EdgeTest {
    private static final List<Integer> TASKS = List.of(1, 2, 3, 4);
    private static final Set<Integer> ALL = Set.of(1, 2, 3, 4, 9);
    private static final Set<Integer> SOME = Set.of(1, 2, 9);
    private static final Set<Integer> NONE = Set.of(9);

    /** So long that no tuple of a test is ever late. */
    private static final long HOUR_NANOS = 3_600_000_000_000L;

    /** With half of the senders in the worker. */
    private static Edge edge(Set<Integer> here, boolean isAckable) {
        return edge(here, isAckable, 0.5);
    }

    private static Edge edge(Set<Integer> here, boolean isAckable, double sendersHere) {
        return FakeWorker.edge(here, TASKS, isAckable, sendersHere);
    }

    private static int[] choices(Edge edge) {
        int[] counts = new int[5];
        for (int i = 0; i < 1000; i++) {
            int task = edge.choose(TaskChooser.NO_TASK);
            counts[task == TaskChooser.NO_TASK ? 0 : task]++;
        }
        return counts;
    }

    @Test
    void whereAllTasksAreInTheWorkerTheyTell() {
        Edge edge = edge(ALL, true);
        assertThat(edge.kind()).isEqualTo(BalanceKind.WORKER);
        assertThat(edge.wantsAcks()).isFalse();
        assertThat(choices(edge)[4]).isGreaterThan(100);
        for (int i = 0; i < 20; i++) {
            edge.sent(4);
        }
        assertThat(choices(edge)[4]).isZero();
    }

    @Test
    void withoutATaskInTheWorkerAndWithoutAcksAllTasksGetAsMany() {
        Edge edge = edge(NONE, false);
        assertThat(edge.kind()).isEqualTo(BalanceKind.EVEN);
        int[] counts = choices(edge);
        assertThat(counts[0]).isZero();
        for (int task : TASKS) {
            assertThat(counts[task]).isBetween(247, 253);
        }
        edge.sent(1);
        edge.completed(1, 5);
        edge.acked(1, 5);
        assertThat(edge.kind()).isEqualTo(BalanceKind.EVEN);
        for (int i = 0; i < 100; i++) {
            assertThat(edge.choose(2)).as("around the original's").isNotEqualTo(2);
        }
        edge.refresh(loads(1, 0), 0.8, 0.2);
        assertThat(choices(edge)[1]).as("full").isLessThan(20);
    }

    @Test
    void whereNobodyKnowsHowFullQueuesAreStormChooses() {
        Edge edge = new Edge(NONE, TASKS, false, null);
        assertThat(edge.kind()).isEqualTo(BalanceKind.STORM);
        assertThat(edge.choose(TaskChooser.NO_TASK)).isEqualTo(TaskChooser.NO_TASK);
    }

    /** Storm, too, keeps to the worker until its tasks' queues are nearly full. */
    @Test
    void tasksInTheWorkerAreChosenUntilTheyAreFull() {
        Edge edge = edge(SOME, false);
        assertThat(edge.kind()).isEqualTo(BalanceKind.WORKER_FIRST);
        int[] counts = choices(edge);
        assertThat(counts[1] + counts[2]).isEqualTo(1000);
        edge.refresh(loads(0.9, 0.75), 0.8, 0.2);
        assertThat(edge.kind()).isEqualTo(BalanceKind.STORM);
        edge.refresh(loads(0.1, 0.35), 0.8, 0.2);
        assertThat(edge.kind()).as("not yet").isEqualTo(BalanceKind.STORM);
        edge.refresh(loads(0.1, 0.25), 0.8, 0.2);
        assertThat(edge.kind()).isEqualTo(BalanceKind.WORKER_FIRST);
    }

    /** The remote ones are full, which counts for nothing. */
    private static LoadMapping loads(double first, double second) {
        LoadMapping loads = new LoadMapping();
        loads.setLocal(Map.of(1, first, 2, second));
        loads.setRemote(Map.of(3, new Load(true, 1, 1), 4, new Load(true, 1, 1)));
        return loads;
    }

    @Test
    void tasksInTheWorkerOfAllSendersGetTheirShare() {
        Edge edge = edge(SOME, false, 1);
        assertThat(edge.kind()).isEqualTo(BalanceKind.EVEN);
        int[] counts = choices(edge);
        assertThat(counts[1] + counts[2]).isBetween(497, 503);
        assertThat(counts[3]).isBetween(247, 253);
        for (int i = 0; i < 20; i++) {
            edge.sent(1);
        }
        assertThat(choices(edge)[2]).as("of which one is slow").isBetween(497, 503);
        for (int i = 0; i < 1000; i++) {
            assertThat(edge.choose(4)).as("around the original's").isNotEqualTo(4);
        }
        edge.refresh(loads(0.9, 0.75), 0.8, 0.2);
        assertThat(edge.kind()).isEqualTo(BalanceKind.STORM);
        assertThat(choices(edge)[0]).isEqualTo(1000);
    }

    @Test
    void aTaskOfWhichStormKnowsNoQueueIsNotFull() {
        Edge edge = edge(SOME, false);
        LoadMapping loads = new LoadMapping();
        loads.setLocal(Map.of(1, 0.1));
        edge.refresh(loads, 0.4, 0.2);
        assertThat(edge.kind()).isEqualTo(BalanceKind.WORKER_FIRST);
    }

    @Test
    void fromTheFirstAckOnASpoutChoosesAmongAll() {
        Edge edge = edge(SOME, true);
        assertThat(edge.wantsAcks()).isTrue();
        edge.sentWithId(1);
        assertThat(edge.kind()).isEqualTo(BalanceKind.WORKER_FIRST);
        edge.acked(1, HOUR_NANOS);
        assertThat(edge.kind()).isEqualTo(BalanceKind.ACKS);
        int[] counts = choices(edge);
        assertThat(counts[0]).isZero();
        assertThat(counts[3]).isGreaterThan(100);
        assertThat(counts[4]).isGreaterThan(100);
        for (int i = 0; i < 5; i++) {
            edge.sentWithId(4);
        }
        assertThat(choices(edge)[4]).isZero();
        for (int i = 0; i < 5; i++) {
            edge.failed(4);
        }
        assertThat(choices(edge)[4]).isGreaterThan(100);
    }

    @Test
    void aSpoutWithoutATaskInItsWorkerHearsOfAcksToo() {
        Edge edge = edge(NONE, true);
        assertThat(edge.kind()).isEqualTo(BalanceKind.EVEN);
        edge.sentWithId(3);
        edge.acked(3, HOUR_NANOS);
        assertThat(edge.kind()).isEqualTo(BalanceKind.ACKS);
    }
}
