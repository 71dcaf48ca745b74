package io.afterbay.doctor.analysis;

import java.util.Arrays;

/** Percentiles of values in order. */
final class Sorted {
    private Sorted() {}

    /** The smallest value that at least this part of the values does not exceed; 0 of none. */
    static long percentile(long[] sorted, double part) {
        return sorted.length == 0 ? 0 : sorted[rank(sorted.length, part)];
    }

    static double percentile(double[] sorted, double part) {
        return sorted.length == 0 ? 0 : sorted[rank(sorted.length, part)];
    }

    private static int rank(int length, double part) {
        return Math.max(0, (int) Math.ceil(part * length) - 1);
    }

    /** The last place whose value is not above, -1 if all are. */
    static int floor(long[] sorted, long value) {
        int at = Arrays.binarySearch(sorted, value);
        return at >= 0 ? at : -at - 2;
    }
}
