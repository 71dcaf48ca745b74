package io.afterbay.doctor.reading;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Which column of a latency file says what; -1 is none. The first is the time.
 *
 * @param what of the latencies of a window the latency is, such as {@code worst} or {@code P99}
 * @param cpu the part of all processors that is busy, 0 to 1
 * @param queue events that wait
 */
record LatencyColumns(int latency, String what, int cpu, int queue) {
    /** What is there without a header. */
    static final LatencyColumns DEFAULT = new LatencyColumns(1, "worst", -1, -1);

    /** The first that is there is taken: the nearer to the worst latency, the better. */
    private static final List<String> LATENCIES =
            List.of("latency", "max", "p99.9", "p999", "p99", "p95", "p90", "p50", "median");

    /** Whether a line is the names of the columns rather than a window. */
    static boolean isHeader(String line) {
        return names(line).get(0).startsWith("time");
    }

    /** Without a column of latency, its number is -1. */
    static LatencyColumns of(String header) {
        List<String> names = names(header);
        String latency = LATENCIES.stream().filter(names::contains).findFirst().orElse("");
        return new LatencyColumns(
                names.indexOf(latency),
                what(latency),
                names.indexOf("cpu"),
                names.indexOf("queue"));
    }

    private static String what(String latency) {
        return latency.equals("latency") || latency.equals("max")
                ? "worst"
                : latency.toUpperCase(Locale.ROOT);
    }

    /**
     * In small letters, without quotes and these units: {@code p99_ms} is common. A latency in
     * another one would be taken for milliseconds, so it stays unknown.
     */
    private static List<String> names(String header) {
        return Arrays.stream(header.split(",", -1))
                .map(name -> name.strip().replace("\"", "").toLowerCase(Locale.ROOT))
                .map(name -> name.replaceFirst("_(ms|events|share)$", ""))
                .toList();
    }
}
