package io.afterbay.flink.kafka.workloads;

import io.afterbay.workloads.profiles.ProfileChanges;
import io.afterbay.workloads.run.EpochClock;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Sends profiles to a topic: a snapshot as fast as it goes, then changes by a schedule, whatever
 * becomes of them. Each says when it was due. One thread.
 */
public final class ProfileFeed implements AutoCloseable {
    private final Topic topic;
    private final ProfileChanges changes;
    private final KafkaProducer<byte[], byte[]> producer;
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
    private volatile long next;

    public ProfileFeed(Topic topic, ProfileChanges changes) {
        this.topic = topic;
        this.changes = changes;
        Properties settings = new Properties();
        settings.put("bootstrap.servers", topic.bootstrap());
        // Those of a member stay in their order.
        settings.put("enable.idempotence", "true");
        settings.put("linger.ms", "0");
        producer =
                new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** How many were sent. */
    public long sent() {
        return next;
    }

    /** Sends so many records as fast as it can; they are there on return. */
    public void past(long count) {
        for (long number = 0; number < count; number++) {
            send(EpochClock.micros());
        }
        flush();
    }

    /**
     * Sends records by a schedule that begins now, until it is to stop; they are there on return.
     */
    public void changes(BooleanSupplier stops, double perSecond) {
        long startMicros = EpochClock.micros();
        for (long number = 0; !stops.getAsBoolean(); number++) {
            long dueMicros = startMicros + (long) (number * 1e6 / perSecond);
            long waitMicros = dueMicros - EpochClock.micros();
            if (waitMicros > 0) {
                LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(waitMicros));
            }
            send(dueMicros);
        }
        flush();
    }

    private void send(long dueMicros) {
        producer.send(
                ProfileRecords.of(topic.name(), changes.record(next, dueMicros)),
                (ignored, problem) -> {
                    if (problem != null) {
                        failure.compareAndSet(null, problem);
                    }
                });
        next++;
        check();
    }

    private void flush() {
        producer.flush();
        check();
    }

    private void check() {
        Exception problem = failure.get();
        if (problem != null) {
            throw new IllegalStateException(
                    "topic %s at %s takes no records".formatted(topic.name(), topic.bootstrap()),
                    problem);
        }
    }

    @Override
    public void close() {
        producer.close();
    }

    /** The same as a program, for the example; it says what is there. */
    @Command(
            name = "feed",
            description = "Sends profiles to a topic of Kafka: all, then changes.",
            mixinStandardHelpOptions = true)
    static final class Program implements Callable<Integer> {
        @Option(names = "--bootstrap", required = true, paramLabel = "HOST:PORT")
        private String bootstrap = "";

        @Option(names = "--profiles", paramLabel = "TOPIC", defaultValue = "profiles")
        private String profiles = "";

        @Option(names = "--titles", paramLabel = "TOPIC", defaultValue = "titles")
        private String titles = "";

        @Option(names = "--partitions", paramLabel = "N", defaultValue = "4")
        private int partitions;

        @Option(names = "--members", paramLabel = "N", defaultValue = "20000")
        private long members;

        @Option(names = "--changes", paramLabel = "N", defaultValue = "20000")
        private long changes;

        @Option(names = "--rate", paramLabel = "N", defaultValue = "200")
        private double rate;

        @Option(names = "--seed", paramLabel = "N", defaultValue = "1")
        private long seed;

        @Override
        public Integer call() throws Exception {
            Topic topic = new Topic(bootstrap, profiles);
            topic.create(partitions);
            new Topic(bootstrap, titles).create(partitions);
            try (ProfileFeed feed = new ProfileFeed(topic, new ProfileChanges(seed, members))) {
                feed.past(members);
                System.out.printf("snapshot of %d profiles%n", feed.sent());
                feed.changes(() -> feed.sent() >= members + changes, rate);
                System.out.printf("%d changes%n", feed.sent() - members);
            }
            return 0;
        }
    }

    public static void main(String[] args) {
        System.exit(new CommandLine(new Program()).execute(args));
    }
}
