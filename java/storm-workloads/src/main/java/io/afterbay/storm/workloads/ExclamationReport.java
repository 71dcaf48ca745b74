package io.afterbay.storm.workloads;

import java.util.LinkedHashMap;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * What a run gave.
 *
 * @param percentilesMs latency from when a word was due to its ack, by name
 * @param executed words by bolt, and by task, counted from 0
 * @param acked different words
 * @param ackedTwice acks of words that had been acked
 * @param failed words that Storm gave up, by its timeout or because a bolt said so
 * @param replays null unless that is the technique
 */
record ExclamationReport(
        ExclamationPlan plan,
        Map<String, Double> percentilesMs,
        Map<String, Map<Integer, Long>> executed,
        int acked,
        long ackedTwice,
        long failed,
        @Nullable ReplayFigures replays) {

    private static final Map<String, Double> PERCENTILES = percentiles();
    private static final double NANOS_PER_MS = 1e6;

    private static Map<String, Double> percentiles() {
        Map<String, Double> all = new LinkedHashMap<>();
        all.put("p50", 50.0);
        all.put("p90", 90.0);
        all.put("p95", 95.0);
        all.put("p99", 99.0);
        all.put("p99_9", 99.9);
        all.put("max", 100.0);
        return all;
    }

    static ExclamationReport of(ExclamationPlan plan, Measured measured) {
        Histogram latencies = measured.latencies();
        Map<String, Double> ms = new LinkedHashMap<>();
        PERCENTILES.forEach(
                (name, percent) ->
                        ms.put(name, latencies.getValueAtPercentile(percent) / NANOS_PER_MS));
        Map<String, Map<Integer, Long>> executed = new LinkedHashMap<>();
        ExclamationTopology.BOLTS.forEach(bolt -> executed.put(bolt, measured.executed(bolt)));
        return new ExclamationReport(
                plan,
                ms,
                executed,
                measured.ackedWords(),
                measured.twice(),
                measured.failures(),
                plan.technique() == Technique.REPLAY ? measured.replays().figures() : null);
    }

    /** Whether each word was acked once, and none failed. */
    boolean isRight() {
        return acked == plan.words() && ackedTwice == 0 && failed == 0;
    }

    /** The share of what the bolts did that was done for words that they had done already. */
    double extraWork() {
        long all =
                executed.values().stream()
                        .flatMap(tasks -> tasks.values().stream())
                        .mapToLong(Long::longValue)
                        .sum();
        long needed = (long) acked * executed.size();
        return needed == 0 ? 0 : (double) (all - needed) / needed;
    }

    /** The share of the first bolt's words that its first task had. */
    double shareOfFirstTask() {
        Map<Integer, Long> tasks =
                executed.getOrDefault(ExclamationTopology.BOLTS.get(0), Map.of());
        long all = tasks.values().stream().mapToLong(Long::longValue).sum();
        return all == 0 ? 0 : (double) tasks.getOrDefault(0, 0L) / all;
    }
}
