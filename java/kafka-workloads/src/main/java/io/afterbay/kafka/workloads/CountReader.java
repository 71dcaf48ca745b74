package io.afterbay.kafka.workloads;

import io.afterbay.workloads.run.EpochClock;
import io.afterbay.workloads.wordcount.CountCheck;
import io.afterbay.workloads.wordcount.WordCountPlan;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Reads committed results, from the first one on. Not safe for use by several threads. */
final class CountReader implements AutoCloseable {
    private static final int SIGNIFICANT_DIGITS = 3;

    private final KafkaConsumer<String, Long> consumer;
    private final CountCheck check = new CountCheck();
    private final Histogram latencyMicros = new Histogram(SIGNIFICANT_DIGITS);
    private final LongConsumer listener;
    private long firstDueMicros = Long.MAX_VALUE;
    private long lastMicros;

    CountReader(WordCountPlan plan) {
        this(plan, Map.of(), micros -> {});
    }

    /**
     * @param settings of the consumer
     * @param listener is told the latency of each result, in microseconds
     */
    CountReader(WordCountPlan plan, Map<String, Object> settings, LongConsumer listener) {
        this.listener = listener;
        Map<String, Object> config = WordCount.clients(plan);
        config.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        config.putAll(settings);
        consumer = new KafkaConsumer<>(config, new StringDeserializer(), new LongDeserializer());
        List<TopicPartition> all =
                IntStream.range(0, plan.partitions())
                        .mapToObj(i -> new TopicPartition(WordCount.output(plan.name()), i))
                        .toList();
        consumer.assign(all);
        consumer.seekToBeginning(all);
    }

    /** Takes what has come; waits for a while if that is nothing. */
    void poll(Duration atMost) {
        for (ConsumerRecord<String, Long> record : consumer.poll(atMost)) {
            check.result(record.key(), record.value());
            Header due = record.headers().lastHeader(WordFeed.DUE);
            if (due != null) {
                lastMicros = EpochClock.micros();
                firstDueMicros = Math.min(firstDueMicros, WordFeed.dueMicros(due));
                long micros = Math.max(0, lastMicros - WordFeed.dueMicros(due));
                latencyMicros.recordValue(micros);
                listener.accept(micros);
            }
        }
    }

    CountCheck check() {
        return check;
    }

    /** From when words were due to when their counts were read. */
    Histogram latencyMicros() {
        return latencyMicros;
    }

    /** From when the first word was due to the last result. */
    double elapsedSeconds() {
        return latencyMicros.getTotalCount() == 0 ? 0 : (lastMicros - firstDueMicros) / 1e6;
    }

    @Override
    public void close() {
        consumer.close();
    }
}
