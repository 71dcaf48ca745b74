package io.afterbay.maintenance;

import java.util.OptionalInt;

/**
 * The knee of a curve: where more x begins to bring much less, or to cost much more (Satopaa,
 * Albrecht, Irwin, Raghavan: Finding a "Kneedle" in a Haystack, ICDCSW 2011).
 *
 * <p>The curve is scaled to the unit square and mirrored so that it is increasing and concave. Its
 * height above the diagonal then has a maximum at each knee, which counts once the height has
 * fallen from there by the sensitivity times the mean distance of the points. The first knee in the
 * mirrored order is returned. The paper smooths the curve first; the caller does so here.
 */
public final class Kneedle {
    /** The paper's choice: 0 detects the soonest, more asks for a clearer knee. */
    public static final double DEFAULT_SENSITIVITY = 1;

    private static final int MIN_POINTS = 3;

    /** Which way a curve goes and bends. */
    public enum Shape {
        INCREASING_CONCAVE(false, false),
        INCREASING_CONVEX(true, true),
        DECREASING_CONCAVE(true, false),
        DECREASING_CONVEX(false, true);

        private final boolean mirrorsX;
        private final boolean mirrorsY;

        Shape(boolean mirrorsX, boolean mirrorsY) {
            this.mirrorsX = mirrorsX;
            this.mirrorsY = mirrorsY;
        }
    }

    private Kneedle() {}

    /**
     * The index of the knee, or empty if the curve is too straight, too flat or too short.
     *
     * @param x strictly increasing
     * @param y as many values, finite
     * @param sensitivity S of the paper, 0 or more
     */
    public static OptionalInt find(double[] x, double[] y, Shape shape, double sensitivity) {
        check(x, y, sensitivity);
        int n = x.length;
        if (n < MIN_POINTS || isFlat(y)) {
            return OptionalInt.empty();
        }
        double[] heights = heights(unit(x, shape.mirrorsX), unit(y, shape.mirrorsY), shape);
        int knee = firstKnee(heights, sensitivity / (n - 1));
        if (knee < 0) {
            return OptionalInt.empty();
        }
        return OptionalInt.of(shape.mirrorsX ? n - 1 - knee : knee);
    }

    private static void check(double[] x, double[] y, double sensitivity) {
        if (x.length != y.length || !(sensitivity >= 0)) {
            throw new IllegalArgumentException(
                    "a curve of "
                            + x.length
                            + " x and "
                            + y.length
                            + " y with sensitivity "
                            + sensitivity);
        }
        for (int i = 0; i < x.length; i++) {
            if (!Double.isFinite(x[i]) || !Double.isFinite(y[i]) || (i > 0 && x[i] <= x[i - 1])) {
                throw new IllegalArgumentException(
                        "point " + i + " (" + x[i] + ", " + y[i] + ") does not continue the curve");
            }
        }
    }

    private static boolean isFlat(double[] y) {
        return min(y) == max(y);
    }

    /** Scaled to [0, 1], and mirrored there. */
    private static double[] unit(double[] values, boolean mirrors) {
        double low = min(values);
        double range = max(values) - low;
        double[] result = new double[values.length];
        for (int i = 0; i < values.length; i++) {
            double scaled = (values[i] - low) / range;
            result[i] = mirrors ? 1 - scaled : scaled;
        }
        return result;
    }

    /** The difference curve, in increasing order of the mirrored x. */
    private static double[] heights(double[] x, double[] y, Shape shape) {
        int n = x.length;
        double[] result = new double[n];
        for (int i = 0; i < n; i++) {
            result[shape.mirrorsX ? n - 1 - i : i] = y[i] - x[i];
        }
        return result;
    }

    /**
     * The first maximum that the heights fall from by more than the drop, or -1. The paper ends the
     * wait at a minimum before that; from there heights rise to the next maximum, which replaces
     * the candidate here.
     */
    private static int firstKnee(double[] heights, double drop) {
        int candidate = -1;
        for (int i = 1; i < heights.length; i++) {
            if (candidate >= 0 && heights[i] < heights[candidate] - drop) {
                return candidate;
            }
            if (isMaximum(heights, i)) {
                candidate = i;
            }
        }
        return -1;
    }

    private static boolean isMaximum(double[] heights, int i) {
        return i + 1 < heights.length
                && heights[i] > heights[i - 1]
                && heights[i] >= heights[i + 1];
    }

    private static double min(double[] values) {
        double result = Double.POSITIVE_INFINITY;
        for (double value : values) {
            result = Math.min(result, value);
        }
        return result;
    }

    private static double max(double[] values) {
        double result = Double.NEGATIVE_INFINITY;
        for (double value : values) {
            result = Math.max(result, value);
        }
        return result;
    }
}
