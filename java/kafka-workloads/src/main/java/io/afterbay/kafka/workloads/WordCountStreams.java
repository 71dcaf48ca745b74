package io.afterbay.kafka.workloads;

import io.afterbay.kafka.DesyncConfig;
import io.afterbay.workloads.wordcount.WordCountPlan;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KafkaStreams.State;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.jspecify.annotations.Nullable;

/** Word count at work in this process. Safe for use by any thread. */
final class WordCountStreams implements Application, AutoCloseable {
    private static final long START_SECONDS_MAX = 180;
    private static final long TICK_MILLIS = 20;
    private static final Duration CLOSE_MAX = Duration.ofSeconds(20);

    private final KafkaStreams streams;
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    private WordCountStreams(KafkaStreams streams) {
        this.streams = streams;
        streams.setUncaughtExceptionHandler(this::failed);
    }

    /**
     * Returns when all stores are open.
     *
     * @throws WordCountException if a setting is wrong, or it does not start
     */
    static WordCountStreams start(WordCountPlan plan, Path state)
            throws WordCountException, InterruptedException {
        Properties config = WordCount.config(plan, state);
        WordCountStreams result = new WordCountStreams(streams(plan, config));
        try {
            result.streams.start();
            result.awaitRunning();
            return result;
        } catch (WordCountException | InterruptedException e) {
            result.close();
            throw e;
        }
    }

    private static KafkaStreams streams(WordCountPlan plan, Properties config)
            throws WordCountException {
        try {
            Map<String, Object> ours = new HashMap<>();
            config.forEach((key, value) -> ours.put((String) key, value));
            new DesyncConfig(ours); // finds what is wrong before a store opens
            return new KafkaStreams(WordCount.topology(plan.name()), config);
        } catch (KafkaException e) {
            throw new WordCountException("Kafka Streams: " + e.getMessage(), e);
        }
    }

    private StreamThreadExceptionResponse failed(Throwable e) {
        failure.compareAndSet(null, e);
        return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
    }

    private void awaitRunning() throws WordCountException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS_MAX);
        while (streams.state() != State.RUNNING) {
            throwIfFailed();
            if (System.nanoTime() - end > 0) {
                throw new WordCountException(
                        "Kafka Streams does not start within %d s and is %s; see its log (--verbose)"
                                .formatted(START_SECONDS_MAX, streams.state()));
            }
            Thread.sleep(TICK_MILLIS);
        }
    }

    @Override
    public void throwIfFailed() throws WordCountException {
        Throwable e = failure.get();
        if (e != null) {
            throw new WordCountException("Kafka Streams has ended: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        streams.close(CLOSE_MAX);
    }
}
