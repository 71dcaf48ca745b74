package io.afterbay.storm;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.stragglers.TaskChooser;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Stream "words" goes to a bolt with tasks 1 and 2, of which 2 is elsewhere, and to task 7. */
class FirstHopsTest {
    /** Paths take so long that no tuple of a test is ever late. */
    private static final long HOUR_NANOS = 3_600_000_000_000L;

    private long now;
    private final Edge edge = FakeWorker.edge(Set.of(1), List.of(1, 2), true, 0.5);
    private final Edge otherEdge = FakeWorker.edge(Set.of(), List.of(3), true, 0.5);
    private final FirstHops hops =
            new FirstHops(
                    () -> now,
                    Map.of("words", Map.of(1, edge, 2, edge), "more", Map.of(3, otherEdge)));

    private void emit(String stream, Object id, Integer... tasks) {
        assertThat(hops.emit(stream, id, () -> List.of(tasks))).containsExactly(tasks);
    }

    private int ofTaskTwo() {
        int count = 0;
        for (int i = 0; i < 1000; i++) {
            count += edge.choose(TaskChooser.NO_TASK) == 2 ? 1 : 0;
        }
        return count;
    }

    @Test
    void tellsWhichTaskHadTheTupleThatIsAcked() {
        emit("words", "a", 1, 7);
        assertThat(edge.kind()).isEqualTo(BalanceKind.WORKER_FIRST);
        now += HOUR_NANOS;
        hops.acked("a");
        assertThat(edge.kind()).isEqualTo(BalanceKind.ACKS);
        assertThat(hops.pending()).isZero();
        emit("words", "b", 2);
        emit("words", "c", 2);
        assertThat(ofTaskTwo()).isZero();
        hops.failed("b");
        now += HOUR_NANOS;
        hops.acked("c");
        assertThat(ofTaskTwo()).isBetween(400, 600);
    }

    @Test
    void whatGoesToNoSuchTaskIsNotKept() {
        emit("words", "a", 7);
        emit("nowhere", "b", 1);
        emit("words", "c");
        assertThat(hops.pending()).isZero();
        hops.acked("a");
        hops.failed("b");
        hops.acked("never sent");
        assertThat(edge.kind()).isEqualTo(BalanceKind.WORKER_FIRST);
    }

    /** Storm allows it, and acks it as often. */
    @Test
    void anIdMayBeUnderWaySeveralTimes() {
        Object id = "the same";
        emit("words", id, 1);
        emit("more", id, 3);
        emit("words", id, 2);
        assertThat(hops.pending()).isEqualTo(3);
        hops.acked(id);
        hops.failed(id);
        assertThat(hops.pending()).isEqualTo(1);
        hops.acked(id);
        assertThat(hops.pending()).isZero();
        hops.acked(id);
        assertThat(hops.pending()).isZero();
    }

    /** Ids that are equal but not the same are different tuples: nothing is asked of ids. */
    @Test
    void idsAreNotAskedWhetherTheyAreEqual() {
        Object one = new StringBuilder("id").toString();
        Object other = new StringBuilder("id").toString();
        emit("words", one, 1);
        emit("more", other, 3);
        hops.acked(one);
        assertThat(edge.kind()).isEqualTo(BalanceKind.ACKS);
        assertThat(otherEdge.kind()).isEqualTo(BalanceKind.EVEN);
    }
}
