package io.afterbay.storm;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.storm.FakeStorm.Sent;
import java.util.ArrayList;
import java.util.List;
import org.apache.storm.spout.SpoutOutputCollector;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.base.BaseRichSpout;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Between a spout and Storm. */
class ReplayedTaskTest {
    private final LateAfter10Ms late = new LateAfter10Ms();
    private final FakeStorm storm = new FakeStorm();
    private final Told spout = new Told();

    /** Emits nothing of its own accord. */
    private static final class Told extends BaseRichSpout {
        private final List<Object> acked = new ArrayList<>();
        private final List<Object> failed = new ArrayList<>();
        private Runnable next = () -> {};

        @Override
        public void open(
                java.util.Map<String, Object> conf,
                org.apache.storm.task.TopologyContext context,
                SpoutOutputCollector collector) {}

        @Override
        public void nextTuple() {
            next.run();
        }

        @Override
        public void ack(Object id) {
            acked.add(id);
        }

        @Override
        public void fail(Object id) {
            failed.add(id);
        }

        @Override
        public void declareOutputFields(OutputFieldsDeclarer declarer) {}
    }

    @BeforeEach
    void fillTheBudget() {
        late.fill();
    }

    private ReplayedTask task(int pendingMax) {
        return new ReplayedTask("events", spout, storm, late.replays, pendingMax);
    }

    private Sent last() {
        return storm.sent.get(storm.sent.size() - 1);
    }

    @Test
    void aLateTupleIsEmittedAgainAroundTheTaskOfTheFirst() {
        ReplayedTask task = task(0);
        assertThat(task.emit("words", List.of("a"), "id")).containsExactly(7);
        assertThat(last().avoided()).isNegative();
        task.nextTuple();
        assertThat(storm.sent).as("not late yet").hasSize(1);
        late.advance(20);
        task.nextTuple();
        assertThat(storm.sent).hasSize(2);
        assertThat(last().stream()).isEqualTo("words");
        assertThat(last().values()).containsExactly("a");
        assertThat(last().avoided()).isEqualTo(7);
        assertThat(last().task()).isEqualTo(8);
        assertThat(last().id()).isNotEqualTo(storm.sent.get(0).id());
        task.emit("words", List.of("b"), null);
        assertThat(last().avoided()).as("the next tuple").isNegative();
        task.emit("words", List.of("c"), "other");
        assertThat(last().avoided()).as("and the one after it").isNegative();
    }

    @Test
    void theSpoutIsToldOnceAndByItsOwnId() {
        ReplayedTask task = task(0);
        task.emit("words", List.of("a"), "id");
        late.advance(20);
        task.nextTuple();
        task.fail(storm.sent.get(0).id());
        assertThat(spout.failed).as("one is still under way").isEmpty();
        task.ack(storm.sent.get(1).id());
        assertThat(spout.acked).containsExactly("id");
        assertThat(late.replays.replaysThatWon()).isEqualTo(1);
        assertThat(task.pending()).isZero();
    }

    @Test
    void aTupleFailsWithItsLastIncarnation() {
        ReplayedTask task = task(0);
        task.emit("words", List.of("a"), "id");
        late.advance(20);
        task.nextTuple();
        task.fail(storm.sent.get(1).id());
        task.fail(storm.sent.get(0).id());
        assertThat(spout.failed).containsExactly("id");
        assertThat(spout.acked).isEmpty();
    }

    @Test
    void equalIdsAreTwoTuples() {
        ReplayedTask task = task(0);
        task.emit("words", List.of("a"), "id");
        task.emit("words", List.of("b"), "id");
        task.ack(storm.sent.get(0).id());
        task.fail(storm.sent.get(1).id());
        assertThat(spout.acked).containsExactly("id");
        assertThat(spout.failed).containsExactly("id");
    }

    @Test
    void whatHasNoIdPassesAsItIs() {
        ReplayedTask task = task(0);
        task.emit("words", List.of("a"), null);
        task.emitDirect(9, "words", List.of("b"), null);
        assertThat(storm.sent).extracting(Sent::id).containsOnlyNulls();
        assertThat(task.pending()).isZero();
        late.advance(20);
        task.nextTuple();
        assertThat(storm.sent).hasSize(2);
    }

    @Test
    void whatIsEmittedDirectlyIsNotReplayedButItsEndIsTold() {
        ReplayedTask task = task(0);
        task.emitDirect(9, "words", List.of("a"), "first");
        task.emitDirect(9, "words", List.of("b"), "second");
        assertThat(task.pending()).isEqualTo(2);
        late.advance(20);
        task.nextTuple();
        assertThat(storm.sent).extracting(Sent::task).containsExactly(9, 9);
        task.ack(storm.sent.get(0).id());
        task.fail(storm.sent.get(1).id());
        task.fail(storm.sent.get(1).id());
        assertThat(spout.acked).containsExactly("first");
        assertThat(spout.failed).containsExactly("second");
        assertThat(task.pending()).isZero();
    }

    /** Else the limit would hold up the replays that are to get below it. */
    @Test
    void theLimitIsForTheTuplesOfTheSpoutAndReplaysComeOnTop() {
        ReplayedTask task = task(3);
        int[] emitted = {0};
        spout.next =
                () -> {
                    task.emit("words", List.of(emitted[0]), emitted[0]);
                    emitted[0]++;
                };
        for (int i = 0; i < 10; i++) {
            task.nextTuple();
        }
        assertThat(emitted[0]).isEqualTo(3);
        assertThat(task.getPendingCount()).isEqualTo(3);
        late.advance(20);
        task.nextTuple();
        assertThat(storm.sent).as("with replays").hasSize(6);
        assertThat(emitted[0]).isEqualTo(3);
        task.ack(storm.sent.get(5).id());
        task.nextTuple();
        assertThat(emitted[0]).isEqualTo(4);
    }

    @Test
    void aRefusedTupleIsCountedOnce() {
        late.budget.utilisation(0.9, 0.1);
        ReplayedTask task = task(0);
        task.emit("words", List.of("a"), "id");
        late.advance(20);
        task.nextTuple();
        task.nextTuple();
        assertThat(storm.sent).hasSize(1);
        assertThat(late.replays.refused()).isEqualTo(1);
    }
}
