package io.afterbay.bench;

import java.util.Arrays;

/** Ratios of one figure, pair by pair. */
public record Ratio(double median, double min, double max) {

    /** Of at least one value. */
    public static Ratio of(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return new Ratio(median(sorted), sorted[0], sorted[sorted.length - 1]);
    }

    /** The one in the middle, or the mean of the two there. */
    public static double median(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int upper = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[upper] : (sorted[upper - 1] + sorted[upper]) / 2;
    }
}
