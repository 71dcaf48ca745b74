package io.afterbay.workloads.wordcount;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A run of word count, as one process tells it another.
 *
 * @param bootstrap HOST:PORT of a Kafka broker, or null for one of the run's own
 * @param name of the application, and what the names of its topics begin with
 * @param words how many come in
 * @param ratePerS when they are due, from the first one on
 * @param vocabulary see {@link Words}
 * @param skew see {@link Words}
 * @param seed see {@link Words}
 * @param partitions of each topic, and so stores
 * @param threads of Kafka Streams
 * @param spreadsTriggers whether {@code DesyncRocksDBConfigSetter} is on
 * @param settings of Kafka Streams, which come before ours
 */
public record WordCountPlan(
        @Nullable String bootstrap,
        String name,
        long words,
        double ratePerS,
        int vocabulary,
        double skew,
        long seed,
        int partitions,
        int threads,
        boolean spreadsTriggers,
        Map<String, String> settings) {

    /** The same on another broker. */
    public WordCountPlan on(String otherBootstrap) {
        return new WordCountPlan(
                otherBootstrap,
                name,
                words,
                ratePerS,
                vocabulary,
                skew,
                seed,
                partitions,
                threads,
                spreadsTriggers,
                settings);
    }

    /** The same with other settings. */
    public WordCountPlan with(Map<String, String> otherSettings) {
        return new WordCountPlan(
                bootstrap,
                name,
                words,
                ratePerS,
                vocabulary,
                skew,
                seed,
                partitions,
                threads,
                spreadsTriggers,
                otherSettings);
    }

    /** The words that come. */
    public Words stream() {
        return new Words(seed, vocabulary, skew);
    }
}
