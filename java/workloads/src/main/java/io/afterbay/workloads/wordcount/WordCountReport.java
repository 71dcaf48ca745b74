package io.afterbay.workloads.wordcount;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a run of word count came to. Latencies are from when a word was due to when its count was
 * read by a consumer of committed results, in milliseconds.
 *
 * @param problem why the run is no good, or null
 * @param kafka version of Kafka Streams
 * @param words that came in
 * @param results that came out
 * @param elapsedS from when the first word was due to the last result
 * @param distinctWords that were counted
 * @param topCounts of the most frequent words, most frequent first
 * @param rocks null without {@code DesyncRocksDBConfigSetter}
 */
public record WordCountReport(
        @Nullable String problem,
        String kafka,
        long words,
        long results,
        double elapsedS,
        double p50Ms,
        double p99Ms,
        double p999Ms,
        double maxMs,
        int distinctWords,
        Map<String, Long> topCounts,
        @Nullable Rocks rocks) {

    /**
     * What RocksDB did while the words came.
     *
     * @param mostCompactionsOfBurst the most stores that compacted after one commit that flushed
     */
    public record Rocks(long flushes, long compactions, int mostCompactionsOfBurst) {}

    /** Of a run that came to nothing. */
    public static WordCountReport failed(String kafka, String problem) {
        return new WordCountReport(problem, kafka, 0, 0, 0, 0, 0, 0, 0, 0, Map.of(), null);
    }
}
