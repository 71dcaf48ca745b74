package io.afterbay.kafka.workloads;

import io.afterbay.rocksdb.Desync;
import io.afterbay.rocksdb.DesyncMetrics;
import io.afterbay.workloads.wordcount.WordCountPlan;
import io.afterbay.workloads.wordcount.WordCountReport;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.apache.kafka.common.utils.AppInfoParser;
import org.jspecify.annotations.Nullable;
import org.rocksdb.Env;

/** A run of word count from its topics to its report, in this process. */
final class WordCountRun {
    private static final Duration POLL = Duration.ofMillis(50);

    /** How long to look for results that should not be there. */
    private static final Duration AFTERMATH = Duration.ofMillis(500);

    private static final long SILENCE_SECONDS_MAX = 60;
    private static final int TOP = 5;
    private static final double MICROS_PER_MS = 1e3;

    private final WordCountPlan plan;
    private final Path directory;
    private final Listener listener;

    /** Who wants to know how far it is. */
    interface Listener {
        void at(String phase, long sent, long results);
    }

    /**
     * @param directory for stores and an embedded broker
     */
    WordCountRun(WordCountPlan plan, Path directory, Listener listener) {
        this.plan = plan;
        this.directory = directory;
        this.listener = listener;
    }

    /** Whatever goes wrong with Kafka is in the report. */
    WordCountReport run() throws IOException, InterruptedException {
        try {
            if (plan.bootstrap() != null) {
                return on(plan);
            }
            listener.at("starting the broker", 0, 0);
            try (EmbeddedKafka kafka = EmbeddedKafka.start(directory.resolve("broker"))) {
                return on(plan.on(kafka.bootstrap()));
            }
        } catch (WordCountException e) {
            return WordCountReport.failed(
                    AppInfoParser.getVersion(), String.valueOf(e.getMessage()));
        }
    }

    private WordCountReport on(WordCountPlan broker)
            throws WordCountException, InterruptedException {
        try (WordTopics topics = new WordTopics(broker)) {
            topics.create();
            try {
                return count(broker);
            } finally {
                if (plan.bootstrap() != null) {
                    topics.delete();
                }
            }
        }
    }

    private WordCountReport count(WordCountPlan broker)
            throws WordCountException, InterruptedException {
        listener.at("starting Kafka Streams", 0, 0);
        try (WordCountStreams streams = WordCountStreams.start(broker, directory.resolve("state"));
                CountReader reader = new CountReader(broker);
                WordFeed feed = new WordFeed(broker)) {
            CompletableFuture<Void> fed = start(feed);
            readAll(streams, reader, feed, fed);
            reader.poll(AFTERMATH);
            return report(reader, feed.sent());
        }
    }

    private static CompletableFuture<Void> start(WordFeed feed) {
        CompletableFuture<Void> result = new CompletableFuture<>();
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                feed.run();
                                result.complete(null);
                            } catch (Throwable e) {
                                result.completeExceptionally(e);
                            }
                        },
                        "word feed");
        thread.setDaemon(true);
        thread.start();
        return result;
    }

    private void readAll(
            WordCountStreams streams,
            CountReader reader,
            WordFeed feed,
            CompletableFuture<Void> fed)
            throws WordCountException {
        long movedNanos = System.nanoTime();
        while (!fed.isDone() || reader.check().results() < plan.words()) {
            long before = reader.check().results() + feed.sent();
            reader.poll(POLL);
            listener.at("counting", feed.sent(), reader.check().results());
            streams.throwIfFailed();
            throwIfFailed(fed);
            boolean isIdle = reader.check().results() == feed.sent() && !fed.isDone();
            if (isIdle || reader.check().results() + feed.sent() != before) {
                movedNanos = System.nanoTime();
            } else if (System.nanoTime() - movedNanos
                    > TimeUnit.SECONDS.toNanos(SILENCE_SECONDS_MAX)) {
                throw new WordCountException(
                        "nothing has moved for %d s: %d words sent, %d counts read; see the log (--verbose)"
                                .formatted(
                                        SILENCE_SECONDS_MAX,
                                        feed.sent(),
                                        reader.check().results()));
            }
        }
    }

    private static void throwIfFailed(CompletableFuture<Void> fed) throws WordCountException {
        try {
            fed.getNow(null);
        } catch (CompletionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new WordCountException(String.valueOf(cause.getMessage()), cause);
        }
    }

    private WordCountReport report(CountReader reader, long sent) {
        Histogram latency = reader.latencyMicros();
        Map<String, Long> counts = reader.check().counts();
        return new WordCountReport(
                reader.check().problem(plan.stream().counts(sent)),
                AppInfoParser.getVersion(),
                sent,
                reader.check().results(),
                reader.elapsedSeconds(),
                millis(latency, 50),
                millis(latency, 99),
                millis(latency, 99.9),
                millis(latency, 100),
                counts.size(),
                top(counts),
                rocks());
    }

    private static WordCountReport.@Nullable Rocks rocks() {
        DesyncMetrics metrics = Desync.metrics(Env.getDefault());
        return metrics == null
                ? null
                : new WordCountReport.Rocks(
                        metrics.flushesBegan(),
                        metrics.compactionsBegan(),
                        metrics.mostCompactionsOfBurst());
    }

    private static double millis(Histogram micros, double percentile) {
        return micros.getValueAtPercentile(percentile) / MICROS_PER_MS;
    }

    private static Map<String, Long> top(Map<String, Long> counts) {
        Map<String, Long> result = new LinkedHashMap<>();
        counts.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder()))
                .limit(TOP)
                .forEach(entry -> result.put(entry.getKey(), entry.getValue()));
        return result;
    }
}
