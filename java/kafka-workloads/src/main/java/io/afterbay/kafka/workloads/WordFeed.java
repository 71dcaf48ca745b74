package io.afterbay.kafka.workloads;

import io.afterbay.workloads.run.EpochClock;
import io.afterbay.workloads.run.Schedule;
import io.afterbay.workloads.wordcount.WordCountPlan;
import io.afterbay.workloads.wordcount.Words;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;

/**
 * Sends words when they are due, whether the ones before are counted or not (an open loop), each
 * exactly once. Runs in one thread; others may ask how far it is.
 */
final class WordFeed implements AutoCloseable {
    /** Header with the time at which a word was due, in microseconds since the epoch. */
    static final String DUE = "due";

    /** How long a due word may wait for others to go with, beside what the schedule asks. */
    private static final int LINGER_MS = 1;

    private static final long TICK_NANOS = 500_000;

    private final WordCountPlan plan;
    private final Words words;
    private final KafkaProducer<byte[], String> producer;
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
    private volatile @Nullable Schedule schedule;
    private volatile long sent;

    WordFeed(WordCountPlan plan) {
        this(plan, LINGER_MS);
    }

    /**
     * @param lingerMs how long a due word may wait for others to go with
     */
    WordFeed(WordCountPlan plan, int lingerMs) {
        this.plan = plan;
        this.words = plan.stream();
        Map<String, Object> config = WordCount.clients(plan);
        config.put(ProducerConfig.LINGER_MS_CONFIG, lingerMs);
        config.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true");
        // Of two requests to a partition whose leader is not there yet, the second may succeed
        // alone; then the first is out of order for ever.
        config.put(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, "1");
        this.producer =
                new KafkaProducer<>(config, new ByteArraySerializer(), new StringSerializer());
    }

    /**
     * Returns when all words are on the broker.
     *
     * @throws WordCountException if one could not be sent
     */
    void run() throws WordCountException {
        Schedule schedule = new Schedule(plan.name(), EpochClock.micros(), 0);
        this.schedule = schedule;
        long next = 0;
        while (next < plan.words()) {
            long dueMicros = schedule.dueMicros(next, plan.ratePerS());
            if (dueMicros > EpochClock.micros()) {
                LockSupport.parkNanos(TICK_NANOS);
            } else {
                send(next, dueMicros);
                next++;
                sent = next;
            }
        }
        producer.flush();
        throwIfFailed();
    }

    private void send(long position, long dueMicros) throws WordCountException {
        throwIfFailed();
        ProducerRecord<byte[], String> record =
                new ProducerRecord<>(
                        WordCount.input(plan.name()),
                        (int) (position % plan.partitions()),
                        null,
                        words.at(position));
        record.headers().add(DUE, ByteBuffer.allocate(Long.BYTES).putLong(dueMicros).array());
        producer.send(
                record,
                (metadata, e) -> {
                    if (e != null) {
                        failure.compareAndSet(null, e);
                    }
                });
    }

    private void throwIfFailed() throws WordCountException {
        Exception e = failure.get();
        if (e != null) {
            throw new WordCountException("words cannot be sent: " + e.getMessage(), e);
        }
    }

    static long dueMicros(Header header) {
        return ByteBuffer.wrap(header.value()).getLong();
    }

    /** How many words were sent. */
    long sent() {
        return sent;
    }

    /** How many words are due by now, whether they are sent or not. */
    long due() {
        Schedule known = schedule;
        return known == null
                ? 0
                : Math.min(plan.words(), known.dueLines(EpochClock.micros(), plan.ratePerS()));
    }

    /** The thread that sends ends at its next word. */
    @Override
    public void close() {
        producer.close(Duration.ZERO);
    }
}
