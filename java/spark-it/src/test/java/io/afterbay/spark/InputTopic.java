package io.afterbay.spark;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A topic with one partition, of whose messages each is a step. */
final class InputTopic implements Input, AutoCloseable {
    private final String topic;
    private final KafkaProducer<byte[], byte[]> producer;
    private int steps;

    private InputTopic(String topic, KafkaProducer<byte[], byte[]> producer) {
        this.topic = topic;
        this.producer = producer;
    }

    /** Makes it. */
    static InputTopic create(String bootstrap, String topic) throws Exception {
        try (Admin admin =
                Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap))) {
            admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all().get();
        }
        Map<String, Object> settings =
                Map.of(
                        ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                        bootstrap,
                        ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG,
                        true);
        return new InputTopic(
                topic,
                new KafkaProducer<>(
                        settings, new ByteArraySerializer(), new ByteArraySerializer()));
    }

    @Override
    public void add(int count) throws Exception {
        for (int i = 0; i < count; i++) {
            byte[] step = StatefulQuery.file(steps).getBytes(StandardCharsets.UTF_8);
            producer.send(new ProducerRecord<>(topic, step)).get();
            steps++;
        }
    }

    @Override
    public int steps() {
        return steps;
    }

    @Override
    public void close() {
        producer.close();
    }
}
