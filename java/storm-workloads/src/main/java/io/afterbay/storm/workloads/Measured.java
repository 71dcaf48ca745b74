package io.afterbay.storm.workloads;

import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;

/**
 * What a run saw. Storm makes spouts and bolts anew from bytes, in this process: they find it by
 * the run's name. Safe for use by any thread.
 */
final class Measured {
    private static final Map<String, Measured> ALL = new ConcurrentHashMap<>();
    private static final long LATENCY_NANOS_MAX = 3_600_000_000_000L;
    private static final int DIGITS = 3;

    private final Map<Place, LongAdder> executed = new ConcurrentHashMap<>();
    private final ReplayWatch replays;

    // What follows is guarded by this.
    private final Histogram latencies = new Histogram(LATENCY_NANOS_MAX, DIGITS);
    private final BitSet acked = new BitSet();
    private long twice;
    private long failed;

    private Measured(String run) {
        replays = ReplayWatch.of(run);
    }

    private record Place(String bolt, int task) {}

    static Measured of(String run) {
        return ALL.computeIfAbsent(run, Measured::new);
    }

    static void forget(String run) {
        ALL.remove(run);
        ReplayWatch.forget(run);
    }

    /**
     * @param number of the word
     * @param latencyNanos since it was due
     */
    synchronized void acked(int number, long latencyNanos, boolean counts) {
        if (acked.get(number)) {
            twice++;
            return;
        }
        acked.set(number);
        if (counts) {
            latencies.recordValue(Math.max(0, Math.min(latencyNanos, LATENCY_NANOS_MAX)));
        }
    }

    synchronized void failed() {
        failed++;
    }

    ReplayWatch replays() {
        return replays;
    }

    /** A bolt's task, counted from 0, has processed a word. */
    void executed(String bolt, int task) {
        executed.computeIfAbsent(new Place(bolt, task), any -> new LongAdder()).increment();
    }

    synchronized boolean isAcked(int number) {
        return acked.get(number);
    }

    /** How many different words were acked. */
    synchronized int ackedWords() {
        return acked.cardinality();
    }

    /** How many acks came for a word that had been acked. */
    synchronized long twice() {
        return twice;
    }

    synchronized long failures() {
        return failed;
    }

    /** Of the words that count, in nanoseconds. */
    synchronized Histogram latencies() {
        return latencies.copy();
    }

    /** By task, counted from 0. */
    Map<Integer, Long> executed(String bolt) {
        Map<Integer, Long> tasks = new TreeMap<>();
        executed.forEach(
                (place, count) -> {
                    if (place.bolt.equals(bolt)) {
                        tasks.put(place.task, count.sum());
                    }
                });
        return tasks;
    }
}
