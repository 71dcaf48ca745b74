package io.afterbay.edge.kafka;

import io.afterbay.edge.lines.GrowingFile;
import io.afterbay.edge.lines.LineTail;
import io.afterbay.handover.Abandonment;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * The program that sends the lines of a {@link GrowingFile}, each as a record, to a partition of a
 * topic: HOST:PORT of a broker, topic, partition, file. It says a line when it knows the topic, and
 * ends with 0 when all records are acknowledged. If its standard input ends, it ends at once: a
 * parent that is killed cannot forget that.
 *
 * <p>Its settings are those of somebody who cares for the link: all that comes within a second is
 * one batch, compressed with zstd. It waits for a link that is down, however long that takes.
 */
public final class SiteProducer {
    private static final long POLL_MS = 10;
    private static final int BATCH_BYTES = 1 << 20; // compressed; a request has no more

    private final KafkaProducer<byte[], byte[]> producer;
    private final String topic;
    private final int partition;
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();

    private SiteProducer(KafkaProducer<byte[], byte[]> producer, String topic, int partition) {
        this.producer = producer;
        this.topic = topic;
        this.partition = partition;
    }

    public static void main(String[] args) throws InterruptedException {
        Abandonment.withInput();
        try {
            KafkaProducer<byte[], byte[]> producer =
                    new KafkaProducer<>(
                            settings(args[0]),
                            new ByteArraySerializer(),
                            new ByteArraySerializer());
            SiteProducer site = new SiteProducer(producer, args[1], Integer.parseInt(args[2]));
            System.out.println(producer.partitionsFor(site.topic).size() + " partitions");
            site.send(Path.of(args[3]));
            producer.close();
        } catch (IOException | KafkaException e) {
            System.err.println(e.getMessage());
            // Closing the producer would wait for what it cannot send.
            Runtime.getRuntime().halt(1);
        }
    }

    private static Map<String, Object> settings(String bootstrap) {
        return Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                bootstrap,
                ProducerConfig.COMPRESSION_TYPE_CONFIG,
                "zstd",
                ProducerConfig.LINGER_MS_CONFIG,
                1_000,
                ProducerConfig.BATCH_SIZE_CONFIG,
                BATCH_BYTES,
                // No record is lost or sent twice, whatever happens to the link.
                ProducerConfig.ACKS_CONFIG,
                "all",
                ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG,
                true,
                ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
                Integer.MAX_VALUE,
                ProducerConfig.MAX_BLOCK_MS_CONFIG,
                (long) Integer.MAX_VALUE);
    }

    private void send(Path file) throws IOException, InterruptedException {
        try (LineTail lines = new LineTail(new GrowingFile(file, null))) {
            while (!lines.isEnded()) {
                byte[] line = lines.next();
                if (line == null) {
                    Thread.sleep(POLL_MS);
                } else {
                    send(line);
                }
                check();
            }
        }
        producer.flush();
        check();
    }

    private void send(byte[] line) {
        var unused =
                producer.send(
                        new ProducerRecord<>(topic, partition, null, line),
                        (ignored, problem) -> {
                            if (problem != null) {
                                failure.compareAndSet(null, problem);
                            }
                        });
    }

    private void check() throws IOException {
        Exception problem = failure.get();
        if (problem != null) {
            throw new IOException(
                    "partition %d of topic %s takes no records: %s"
                            .formatted(partition, topic, problem.getMessage()),
                    problem);
        }
    }
}
