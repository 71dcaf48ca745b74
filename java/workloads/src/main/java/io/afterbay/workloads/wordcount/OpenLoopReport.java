package io.afterbay.workloads.wordcount;

import io.afterbay.handover.ProcessReport;
import org.jspecify.annotations.Nullable;

/**
 * What an {@link OpenLoopPlan} came to. Latencies are from when a word was due to when its count
 * was read, in milliseconds; null where none counted.
 *
 * @param problem why the run is no good, or null
 * @param kafka version of Kafka Streams
 * @param counts identifies all counts; null if the rate was sought
 * @param wordsPerS as fast as possible; null at a rate
 * @param cpuUsPerWord as fast as possible, of broker, feed, reader and Kafka Streams together
 * @param ratePerS words per second; where it was sought, what was found
 * @param busy processor time of all of them as a share of the processors
 * @param mostWaiting words that were due and whose counts were not read, at the worst
 * @param windows in the file of latencies
 * @param flushThreads of RocksDB in the process of Kafka Streams at the end of the rate; null where
 *     the rate was sought
 * @param compactionThreads the same, 0 if the gate was holding them then
 * @param gate null without ours
 * @param cpuMs processor time of all of them, from the start
 */
public record OpenLoopReport(
        @Nullable String problem,
        String kafka,
        @Nullable String counts,
        @Nullable Double wordsPerS,
        @Nullable Double cpuUsPerWord,
        @Nullable Double ratePerS,
        @Nullable Double p50Ms,
        @Nullable Double p90Ms,
        @Nullable Double p95Ms,
        @Nullable Double p99Ms,
        @Nullable Double p999Ms,
        @Nullable Double maxMs,
        @Nullable Double busy,
        @Nullable Long mostWaiting,
        int windows,
        @Nullable Integer flushThreads,
        @Nullable Integer compactionThreads,
        @Nullable Gate gate,
        long cpuMs)
        implements ProcessReport {

    /**
     * What the gate did.
     *
     * @param holds how often compactions were held back
     * @param heldMs how long, in all
     * @param delayMs T of the last burst
     */
    public record Gate(long holds, double heldMs, double delayMs) {}

    /** Of a run that came to nothing. */
    public static OpenLoopReport failed(String kafka, String problem, long cpuMs) {
        return new OpenLoopReport(
                problem, kafka, null, null, null, null, null, null, null, null, null, null, null,
                null, 0, null, null, null, cpuMs);
    }

    /** Of a search. */
    public static OpenLoopReport found(
            String kafka,
            double wordsPerS,
            double cpuUsPerWord,
            double ratePerS,
            double busy,
            long cpuMs) {
        return new OpenLoopReport(
                null,
                kafka,
                null,
                wordsPerS,
                cpuUsPerWord,
                ratePerS,
                null,
                null,
                null,
                null,
                null,
                null,
                busy,
                null,
                0,
                null,
                null,
                null,
                cpuMs);
    }
}
