package io.afterbay.flink.kafka.workloads;

import io.afterbay.workloads.profiles.StandardTitle;
import io.afterbay.workloads.run.EpochClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;

/**
 * Meets titles as a reader of the table does, on a thread of its own, from the first row on. Of
 * each profile counts the first row that is not older: what writes it again does not make it late.
 */
final class TitleReader implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(50);
    private static final int SIGNIFICANT_DIGITS = 2;
    private static final long MICROS_PER_S = 1_000_000;

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final List<TopicPartition> partitions;
    private final Thread thread = new Thread(this::run, "titles");
    private final Map<Long, Long> newestMicros = new HashMap<>();
    private final Map<Long, Histogram> bySecond = new TreeMap<>();
    private volatile long liveFromMicros = Long.MAX_VALUE;
    private volatile long arrived;
    private volatile long stale;
    private volatile long lastMicros;
    private volatile boolean ends;

    TitleReader(Topic titles) {
        consumer = titles.consumer();
        partitions = titles.partitions(consumer);
        consumer.assign(partitions);
        consumer.seekToBeginning(partitions);
        thread.setDaemon(true);
        thread.start();
    }

    /** Profiles that are due from then on have a latency. */
    void countFrom(long micros) {
        liveFromMicros = micros;
    }

    /** Profiles that were counted. */
    long arrived() {
        return arrived;
    }

    /** When the last of them was read, in microseconds since 1970. */
    long lastMicros() {
        return lastMicros;
    }

    /** Rows that put an older profile over a newer one. */
    long stale() {
        return stale;
    }

    private void run() {
        while (!ends) {
            consumer.poll(POLL).forEach(this::row);
        }
        Map<TopicPartition, Long> last = consumer.endOffsets(partitions);
        while (partitions.stream()
                .anyMatch(one -> consumer.position(one) < last.getOrDefault(one, 0L))) {
            consumer.poll(POLL).forEach(this::row);
        }
    }

    private void row(ConsumerRecord<byte[], byte[]> row) {
        if (row.value() == null) {
            return;
        }
        StandardTitle title = ProfileRecords.title(row);
        Long newest = newestMicros.get(title.member());
        if (newest != null && title.changedMicros() <= newest) {
            if (title.changedMicros() < newest) {
                stale++;
            }
            return;
        }
        newestMicros.put(title.member(), title.changedMicros());
        if (title.changedMicros() >= liveFromMicros) {
            lastMicros = EpochClock.micros();
            arrived++;
            bySecond.computeIfAbsent(
                            (title.changedMicros() - liveFromMicros) / MICROS_PER_S,
                            ignored -> new Histogram(SIGNIFICANT_DIGITS))
                    .recordValue(Math.max(0, lastMicros - title.changedMicros()));
        }
    }

    /** Latencies in microseconds by the second in which profiles were due; after {@link #close}. */
    Map<Long, Histogram> bySecond() {
        return bySecond;
    }

    /** Of these seconds together. */
    Histogram of(long fromSecond, long toSecond) {
        Histogram sum = new Histogram(SIGNIFICANT_DIGITS);
        List<Histogram> parts = new ArrayList<>();
        bySecond.forEach(
                (second, part) -> {
                    if (second >= fromSecond && second < toSecond) {
                        parts.add(part);
                    }
                });
        parts.forEach(sum::add);
        return sum;
    }

    /** Returns when it has read all that is there. */
    @Override
    public void close() {
        ends = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        consumer.close();
    }
}
