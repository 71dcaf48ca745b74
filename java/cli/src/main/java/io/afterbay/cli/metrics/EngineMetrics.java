package io.afterbay.cli.metrics;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.LongConsumer;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Histogram;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricGroup;

/**
 * What the jobs of this process emit at their sources, and how long Flink's latency markers take
 * from there to the last operators. Operators that have ended keep what they counted; after a
 * restart, records that are read again count again. Thread safe.
 */
public final class EngineMetrics {
    /** As {@code metrics.latency.history-size}: what a histogram holds between two looks at it. */
    public static final int LATENCY_HISTORY = 1024;

    private static final EngineMetrics OF_THIS_PROCESS = new EngineMetrics();

    /** The prefix that Flink gives the name of every source operator. */
    private static final String SOURCE = "Source: ";

    /** Flink cuts names of operators in metrics. */
    private static final int NAME_LENGTH_MAX = 80;

    private final Set<Counter> sources = new HashSet<>();
    private final Map<Histogram, Markers> latencies = new HashMap<>();
    private final Map<String, String> operatorNames = new HashMap<>();
    private final Set<String> lastOperators = new HashSet<>();
    private long recordsOfEnded;

    private EngineMetrics() {}

    /** Flink creates its reporters itself, so they find this by name. */
    public static EngineMetrics ofThisProcess() {
        return OF_THIS_PROCESS;
    }

    /** Counts the latency markers that arrive at the operator of this name. */
    public synchronized void addLastOperator(String name) {
        lastOperators.add(cut(name));
    }

    /** Records that sources have emitted so far. */
    public synchronized long sourceRecords() {
        long records = recordsOfEnded;
        for (Counter source : sources) {
            records += source.getCount();
        }
        return records;
    }

    /** Hands over the latencies in milliseconds that came in since the call before. */
    public synchronized void drainLatencies(LongConsumer millis) {
        latencies.forEach((histogram, markers) -> markers.drain(histogram, millis));
    }

    synchronized void add(Metric metric, String name, MetricGroup group) {
        Map<String, String> scope = group.getAllVariables();
        if (metric instanceof Counter counter && name.equals("numRecordsOut")) {
            addOperator(counter, scope);
        } else if (metric instanceof Histogram histogram && name.equals("latency")) {
            latencies.put(histogram, new Markers(scope.getOrDefault("<operator_id>", "")));
        }
    }

    private void addOperator(Counter counter, Map<String, String> scope) {
        String operator = scope.get("<operator_name>");
        if (operator == null) {
            return; // of a task
        }
        operatorNames.put(scope.getOrDefault("<operator_id>", ""), cut(operator));
        if (operator.startsWith(SOURCE)) {
            sources.add(counter);
        }
    }

    synchronized void remove(Metric metric) {
        if (metric instanceof Counter counter && sources.remove(counter)) {
            recordsOfEnded += counter.getCount();
        }
    }

    private static String cut(String name) {
        return name.length() > NAME_LENGTH_MAX ? name.substring(0, NAME_LENGTH_MAX) : name;
    }

    /** How far the ring of a histogram has been read. */
    private final class Markers {
        private final String operatorId;
        private long seen;

        Markers(String operatorId) {
            this.operatorId = operatorId;
        }

        void drain(Histogram histogram, LongConsumer millis) {
            long count = histogram.getCount();
            if (count == seen) {
                return;
            }
            if (lastOperators.contains(operatorNames.getOrDefault(operatorId, ""))) {
                long[] ring = histogram.getStatistics().getValues();
                for (long i = Math.max(seen, count - ring.length); i < count; i++) {
                    millis.accept(ring[(int) (i % LATENCY_HISTORY)]);
                }
            }
            seen = count;
        }
    }
}
