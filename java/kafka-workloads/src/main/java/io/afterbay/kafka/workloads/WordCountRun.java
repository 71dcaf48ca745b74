package io.afterbay.kafka.workloads;

import io.afterbay.rocksdb.Desync;
import io.afterbay.rocksdb.DesyncMetrics;
import io.afterbay.workloads.wordcount.WordCountPlan;
import io.afterbay.workloads.wordcount.WordCountReport;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.apache.kafka.common.utils.AppInfoParser;
import org.jspecify.annotations.Nullable;
import org.rocksdb.Env;

/** A run of word count from its topics to its report, in this process. */
final class WordCountRun {
    private static final int TOP = 5;
    private static final double MICROS_PER_MS = 1e3;

    private final WordCountPlan plan;
    private final Path directory;
    private final Counting.Listener listener;

    /**
     * @param directory for stores and an embedded broker
     */
    WordCountRun(WordCountPlan plan, Path directory, Counting.Listener listener) {
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
            new Counting(plan, streams, listener).run(feed, reader);
            return report(reader, feed.sent());
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
