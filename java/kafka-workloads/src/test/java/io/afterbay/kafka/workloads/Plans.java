package io.afterbay.kafka.workloads;

import io.afterbay.testing.OwnJvm;
import io.afterbay.workloads.wordcount.WordCountPlan;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Runs as the tests want them. */
final class Plans {
    /** Of the JVM with Kafka Streams. */
    static final List<String> FLAGS =
            Stream.concat(Stream.of("-Xmx256m"), OwnJvm.SHORT_LIVED.stream()).toList();

    private static final int VOCABULARY = 1_000;
    private static final long SEED = 7;

    private Plans() {}

    static WordCountPlan plan(
            String bootstrap,
            String name,
            long words,
            double ratePerS,
            int partitions,
            Map<String, String> settings) {
        return new WordCountPlan(
                bootstrap,
                name,
                words,
                ratePerS,
                VOCABULARY,
                1,
                SEED,
                partitions,
                1,
                true,
                settings);
    }
}
