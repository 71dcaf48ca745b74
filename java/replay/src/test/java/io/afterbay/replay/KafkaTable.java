package io.afterbay.replay;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;

/** A topic that is a table: of each key, the last row counts. Also a log of what is to be read. */
final class KafkaTable implements AutoCloseable {
    private final String bootstrap;
    private final String topic;
    private final int partitions;
    private final KafkaProducer<String, String> producer;

    private KafkaTable(String bootstrap, String topic, int partitions) {
        this.bootstrap = bootstrap;
        this.topic = topic;
        this.partitions = partitions;
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        // A partition may not be there yet: a second batch that it takes first stays alone for
        // ever.
        settings.put("max.in.flight.requests.per.connection", "1");
        producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
    }

    static KafkaTable create(Admin admin, String bootstrap, String topic, int partitions)
            throws Exception {
        admin.createTopics(
                        List.of(
                                new NewTopic(topic, partitions, (short) 1)
                                        .configs(Map.of("retention.ms", "-1"))))
                .all()
                .get();
        return new KafkaTable(bootstrap, topic, partitions);
    }

    String topic() {
        return topic;
    }

    /** It is there on return. */
    void put(long ms, Map<String, String> rows) {
        rows.forEach((key, value) -> producer.send(record(ms, key, value)));
        producer.flush();
    }

    void put(long ms, String key, @Nullable String value) {
        producer.send(record(ms, key, value));
        producer.flush();
    }

    void put(int partition, long ms, String key, String value) {
        producer.send(new ProducerRecord<>(topic, partition, ms, key, value));
        producer.flush();
    }

    /** Rows that are there and not yet committed. */
    Transaction begin(long ms, Map<String, String> rows) {
        Transaction transaction = new Transaction();
        rows.forEach((key, value) -> transaction.producer.send(record(ms, key, value)));
        transaction.producer.flush();
        return transaction;
    }

    final class Transaction {
        private final KafkaProducer<String, String> producer;

        private Transaction() {
            Properties settings = new Properties();
            settings.put("bootstrap.servers", bootstrap);
            settings.put("transactional.id", topic + "-live");
            // A whole replay starts in it.
            settings.put("transaction.timeout.ms", "600000");
            producer =
                    new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
            producer.initTransactions();
            producer.beginTransaction();
        }

        void commit() {
            producer.commitTransaction();
            producer.close();
        }
    }

    private ProducerRecord<String, String> record(long ms, String key, @Nullable String value) {
        return new ProducerRecord<>(topic, null, ms, key, value);
    }

    /** All that is committed, of each partition in its order. */
    List<ConsumerRecord<byte[], byte[]>> rows() {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("isolation.level", "read_committed");
        List<ConsumerRecord<byte[], byte[]>> rows = new ArrayList<>();
        List<TopicPartition> all =
                IntStream.range(0, partitions)
                        .mapToObj(number -> new TopicPartition(topic, number))
                        .toList();
        try (var consumer =
                new KafkaConsumer<byte[], byte[]>(
                        settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(all);
            consumer.seekToBeginning(all);
            Map<TopicPartition, Long> ends = consumer.endOffsets(all);
            while (all.stream().anyMatch(one -> consumer.position(one) < ends.get(one))) {
                consumer.poll(Duration.ofMillis(100)).forEach(rows::add);
            }
        }
        return rows;
    }

    /** What readers of committed rows end up with. */
    Map<String, String> table() {
        Map<String, String> table = new HashMap<>();
        for (ConsumerRecord<byte[], byte[]> row : rows()) {
            String key = new String(row.key(), StandardCharsets.UTF_8);
            if (row.value() == null) {
                table.remove(key);
            } else {
                table.put(key, new String(row.value(), StandardCharsets.UTF_8));
            }
        }
        return table;
    }

    @Override
    public void close() {
        producer.close();
    }
}
