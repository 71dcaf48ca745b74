package io.afterbay.storm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.storm.spout.ISpoutOutputCollector;
import org.apache.storm.spout.SpoutOutputCollector;
import org.junit.jupiter.api.Test;

/** What a spout emits through. All goes to task 2, of a bolt with tasks 1 and 2. */
class AttributingSpoutTest {
    private final Edge edge = FakeWorker.edge(Set.of(1), List.of(1, 2), true, 0.5);
    private final FirstHops hops = new FirstHops(() -> 0, Map.of("default", Map.of(2, edge)));
    private final List<Object> ids = new ArrayList<>();

    private final class Storm implements ISpoutOutputCollector {
        @Override
        public List<Integer> emit(String stream, List<Object> tuple, Object id) {
            ids.add(id);
            return List.of(2);
        }

        @Override
        public void emitDirect(int task, String stream, List<Object> tuple, Object id) {
            ids.add(id);
        }

        @Override
        public long getPendingCount() {
            return 17;
        }

        @Override
        public void flush() {}

        @Override
        public void reportError(Throwable error) {}
    }

    private final SpoutOutputCollector collector =
            new SpoutOutputCollector(
                    new AttributingSpout.Attributing(new SpoutOutputCollector(new Storm()), hops));

    @Test
    void stormGetsTheSpoutsOwnIds() {
        Object id = new Object();
        assertThat(collector.emit(List.of("word"), id)).containsExactly(2);
        assertThat(ids).hasSize(1).first().isSameAs(id);
        assertThat(hops.pending()).isEqualTo(1);
        hops.acked(id);
        assertThat(edge.kind()).isEqualTo(BalanceKind.ACKS);
        assertThat(collector.getPendingCount()).isEqualTo(17);
    }

    @Test
    void withoutAnIdOrToATaskByNameNothingIsAwaited() {
        assertThat(collector.emit(List.of("word"))).containsExactly(2);
        collector.emitDirect(2, List.of("word"), "direct");
        assertThat(ids).containsExactly(null, "direct");
        assertThat(hops.pending()).isZero();
    }
}
