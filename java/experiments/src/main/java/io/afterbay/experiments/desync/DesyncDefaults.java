package io.afterbay.experiments.desync;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What {@code afterbay bench desync} uses for options that are not given.
 *
 * @param subtasks of each keyed stage; on Kafka Streams, partitions
 * @param intervals between checkpoints, or on Kafka Streams between commits
 * @param threads of RocksDB
 * @param payload of each report, in bytes; 0 on Kafka Streams
 * @param history how many reports of a car are kept; 0 on Kafka Streams
 * @param work for each report, in thousands of steps; 0 on Kafka Streams
 * @param vocabulary different words; null on Flink
 * @param loadPercent of all processors
 * @param warmUp before anything counts
 * @param open counted time at the rate
 */
record DesyncDefaults(
        List<Integer> subtasks,
        List<Duration> intervals,
        List<Integer> threads,
        int payload,
        int history,
        int work,
        @Nullable Integer vocabulary,
        int loadPercent,
        Duration warmUp,
        Duration open) {

    private static final int FLINK_THREADS = 2;

    static DesyncDefaults of(DesyncEngine on, boolean quick) {
        int processors = Runtime.getRuntime().availableProcessors();
        if (on.isKafka()) {
            return quick ? quickOnKafka(processors) : onKafka(processors);
        }
        return quick ? quickOnFlink() : onFlink(processors);
    }

    /** As much as a processor writes in the paper. */
    private static DesyncDefaults onFlink(int processors) {
        return new DesyncDefaults(
                List.of(16, 64),
                List.of(Duration.ofSeconds(8), Duration.ofSeconds(16)),
                List.of(processors + 1),
                6_000,
                60,
                600,
                null,
                75,
                Duration.ofSeconds(30),
                Duration.ofMinutes(5));
    }

    /**
     * Small enough that checkpoints come before memtables are full, and that compactions end before
     * the next checkpoint on slow and busy machines, too: else instances are not aligned for long.
     */
    private static DesyncDefaults quickOnFlink() {
        return new DesyncDefaults(
                List.of(8),
                List.of(Duration.ofSeconds(2)),
                List.of(FLINK_THREADS),
                1_000,
                20,
                0,
                null,
                40,
                Duration.ofSeconds(2),
                Duration.ofSeconds(30));
    }

    /** The load of the paper's word count. */
    private static DesyncDefaults onKafka(int processors) {
        return new DesyncDefaults(
                List.of(64),
                List.of(Duration.ofSeconds(8)),
                List.of(processors), // for compactions, whenever a store opens
                0,
                0,
                0,
                1_000_000,
                70,
                Duration.ofSeconds(30),
                Duration.ofMinutes(5));
    }

    /** As fast as possible, since commits flush after 10,000 words of a partition. */
    private static DesyncDefaults quickOnKafka(int processors) {
        return new DesyncDefaults(
                List.of(4),
                List.of(Duration.ofSeconds(2)),
                List.of(processors),
                0,
                0,
                0,
                100_000,
                100,
                Duration.ofSeconds(2),
                Duration.ofSeconds(30));
    }
}
