package io.afterbay.flink.kafka.workloads;

import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A topic of Kafka as a whole.
 *
 * @param bootstrap HOST:PORT of a broker
 */
public record Topic(String bootstrap, String name) {
    private static final Duration POLL = Duration.ofMillis(100);
    private static final long LAG_PAUSE_MS = 200;

    private Admin admin() {
        return Admin.create(Map.of("bootstrap.servers", bootstrap));
    }

    /** Makes it, if it is not there yet. It keeps its records for ever. */
    public void create(int partitions) throws InterruptedException, ExecutionException {
        try (Admin admin = admin()) {
            admin.createTopics(
                            List.of(
                                    new NewTopic(name, partitions, (short) 1)
                                            .configs(Map.of("retention.ms", "-1"))))
                    .all()
                    .get();
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof TopicExistsException)) {
                throw e;
            }
        }
    }

    /** All records that are committed when this is called; of each partition in its order. */
    public void read(Consumer<ConsumerRecord<byte[], byte[]>> rows) {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer()) {
            List<TopicPartition> all = partitions(consumer);
            consumer.assign(all);
            consumer.seekToBeginning(all);
            Map<TopicPartition, Long> ends = consumer.endOffsets(all);
            while (all.stream().anyMatch(one -> consumer.position(one) < end(ends, one))) {
                consumer.poll(POLL).forEach(rows);
            }
        }
    }

    /** Says that a group has read all that is there. */
    public void commitEnd(String group) throws InterruptedException, ExecutionException {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer();
                Admin admin = admin()) {
            Map<TopicPartition, OffsetAndMetadata> ends = new HashMap<>();
            consumer.endOffsets(partitions(consumer))
                    .forEach((one, offset) -> ends.put(one, new OffsetAndMetadata(offset)));
            admin.alterConsumerGroupOffsets(group, ends).all().get();
        }
    }

    /**
     * Waits until a group has committed all that is there.
     *
     * @throws IOException if it takes longer than that
     */
    public void awaitNoLag(String group, long seconds)
            throws IOException, InterruptedException, ExecutionException {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        for (long lag = lag(group); lag > 0; lag = lag(group)) {
            if (System.nanoTime() > deadlineNanos) {
                throw new IOException(
                        "group %s still has %d records of topic %s to read after %d s; does its job run?"
                                .formatted(group, lag, name, seconds));
            }
            Thread.sleep(LAG_PAUSE_MS);
        }
    }

    /** How many records a group has not committed yet. */
    public long lag(String group) throws InterruptedException, ExecutionException {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer();
                Admin admin = admin()) {
            List<TopicPartition> all = partitions(consumer);
            Map<TopicPartition, Long> ends = consumer.endOffsets(all);
            Map<TopicPartition, Long> first = consumer.beginningOffsets(all);
            Map<TopicPartition, OffsetAndMetadata> committed =
                    admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
            return all.stream()
                    .mapToLong(
                            one -> {
                                OffsetAndMetadata at = committed.get(one);
                                return end(ends, one)
                                        - (at == null ? end(first, one) : at.offset());
                            })
                    .sum();
        }
    }

    /** One that sees what is committed, and has nothing assigned. */
    public KafkaConsumer<byte[], byte[]> consumer() {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("isolation.level", "read_committed");
        return new KafkaConsumer<>(
                settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** Those that there are. */
    public List<TopicPartition> partitions(KafkaConsumer<byte[], byte[]> consumer) {
        return consumer.partitionsFor(name).stream()
                .map(one -> new TopicPartition(name, one.partition()))
                .toList();
    }

    private static long end(Map<TopicPartition, Long> offsets, TopicPartition partition) {
        Long offset = offsets.get(partition);
        if (offset == null) {
            throw new IllegalStateException(partition + " has gone meanwhile");
        }
        return offset;
    }
}
