package io.afterbay.doctor.analysis;

import io.afterbay.doctor.reading.Intervals;

/** How often and how long; milliseconds, 0 if there were none. */
public record Durations(int count, double medianMs, double p99Ms, double longestMs) {

    public static Durations of(Intervals intervals) {
        long[] lengths = intervals.sortedLengths();
        return new Durations(
                lengths.length,
                Sorted.percentile(lengths, 0.5) / 1000.0,
                Sorted.percentile(lengths, 0.99) / 1000.0,
                Sorted.percentile(lengths, 1) / 1000.0);
    }
}
