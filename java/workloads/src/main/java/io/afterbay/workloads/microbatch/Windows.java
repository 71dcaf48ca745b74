package io.afterbay.workloads.microbatch;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BinaryOperator;

/**
 * Sliding windows of event time, whose rows come when the watermark has passed their end.
 *
 * @param <K> of what there is a value in each window
 */
final class Windows<K, V> {
    /** What is done with the content of a complete window. */
    interface Output<K, V> {
        void complete(long startMicros, Map<K, V> content);
    }

    private final long rangeMicros;
    private final long slideMicros;
    private final BinaryOperator<V> sum;
    private final Output<K, V> output;
    private final TreeMap<Long, Map<K, V>> open = new TreeMap<>();

    Windows(StreamQuery query, BinaryOperator<V> sum, Output<K, V> output) {
        this.rangeMicros = query.rangeSeconds() * EventTimes.MICROS_PER_S;
        this.slideMicros = query.slideSeconds() * EventTimes.MICROS_PER_S;
        this.sum = sum;
        this.output = output;
    }

    void add(long micros, K key, V value) {
        long last = micros - Math.floorMod(micros, slideMicros);
        for (long start = last; start > micros - rangeMicros; start -= slideMicros) {
            open.computeIfAbsent(start, s -> new HashMap<>()).merge(key, value, sum);
        }
    }

    void watermark(long micros) {
        while (!open.isEmpty() && open.firstKey() + rangeMicros <= micros) {
            long start = open.firstKey();
            output.complete(start, Objects.requireNonNull(open.remove(start)));
        }
    }
}
