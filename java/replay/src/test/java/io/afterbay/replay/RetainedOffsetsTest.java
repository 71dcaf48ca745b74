package io.afterbay.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

/** What is said to a replay from time 100 whose partitions have lost records. */
class RetainedOffsetsTest {
    private static final long FROM_MS = 100;

    private final Partitions partitions = new Partitions();
    private final OffsetsInitializer offsets =
            (OffsetsInitializer)
                    Proxy.newProxyInstance(
                            OffsetsInitializer.class.getClassLoader(),
                            new Class<?>[] {OffsetsInitializer.class},
                            new RetainedOffsets(
                                    OffsetsInitializer.timestamp(FROM_MS), FROM_MS, "topic"));

    private Map<TopicPartition, Long> starts() {
        return offsets.getPartitionOffsets(partitions.times.keySet(), partitions);
    }

    @Test
    void whatWasNeverDeletedIsFineHoweverLateItBegins() {
        TopicPartition late = partitions.add(0, 0, 500);
        TopicPartition empty = partitions.add(1, 0);
        assertThat(starts()).containsEntry(late, 0L).containsEntry(empty, 0L).hasSize(2);
    }

    @Test
    void soIsWhatWasDeletedBeforeTheStart() {
        TopicPartition partition = partitions.add(0, 7, 90, 110);
        TopicPartition old = partitions.add(1, 7, 90);
        assertThat(starts()).containsEntry(partition, 8L).containsEntry(old, 8L);
    }

    @Test
    void aPartitionThatBeginsAfterTheStartIsNamed() {
        partitions.add(0, 7, 150);
        partitions.add(1, 0, 20, 110);
        assertThatThrownBy(this::starts)
                .isInstanceOf(ReplayImpossibleException.class)
                .hasMessageContaining("t-0 from 1970-01-01T00:00:00.150Z")
                .hasMessageNotContainingAny("t-1", "nothing left")
                .hasMessageEndingWith("from 1970-01-01T00:00:00.150Z on");
    }

    @Test
    void soIsOneThatHasNothingLeft() {
        partitions.add(0, 7);
        partitions.add(1, 0, 20, 110);
        assertThatThrownBy(this::starts)
                .isInstanceOf(ReplayImpossibleException.class)
                .hasMessageContaining("deleted older records of it: t-0 has nothing left.")
                .hasMessageContaining("setPartitions")
                .hasMessageEndingWith("from 1970-01-01T00:00:00.100Z on");
    }

    /** Answers as the connector's does: of times that no record has, there is no entry. */
    private static final class Partitions implements OffsetsInitializer.PartitionOffsetsRetriever {
        private final Map<TopicPartition, List<Long>> times = new HashMap<>();
        private final Map<TopicPartition, Long> begins = new HashMap<>();

        TopicPartition add(int number, long begin, long... timesMs) {
            TopicPartition partition = new TopicPartition("t", number);
            times.put(partition, java.util.Arrays.stream(timesMs).boxed().toList());
            begins.put(partition, begin);
            return partition;
        }

        @Override
        public Map<TopicPartition, Long> committedOffsets(Collection<TopicPartition> asked) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Map<TopicPartition, Long> endOffsets(Collection<TopicPartition> asked) {
            Map<TopicPartition, Long> ends = beginningOffsets(asked);
            ends.replaceAll((partition, begin) -> begin + times.get(partition).size());
            return ends;
        }

        @Override
        public Map<TopicPartition, Long> beginningOffsets(Collection<TopicPartition> asked) {
            Map<TopicPartition, Long> known = new HashMap<>(begins);
            known.keySet().retainAll(asked);
            return known;
        }

        @Override
        public Map<TopicPartition, OffsetAndTimestamp> offsetsForTimes(
                Map<TopicPartition, Long> asked) {
            Map<TopicPartition, OffsetAndTimestamp> found = new HashMap<>();
            asked.forEach(
                    (partition, ms) -> {
                        TreeMap<Long, Long> offsets = new TreeMap<>();
                        long offset = begins.get(partition);
                        for (long time : times.get(partition)) {
                            offsets.putIfAbsent(time, offset++);
                        }
                        Map.Entry<Long, Long> first = offsets.ceilingEntry(ms);
                        if (first != null) {
                            found.put(
                                    partition,
                                    new OffsetAndTimestamp(first.getValue(), first.getKey()));
                        }
                    });
            return found;
        }
    }
}
