package io.afterbay.maintenance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.maintenance.Kneedle.Shape;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class KneedleTest {
    /** Figure 2 of the paper: ten points of -1/x + 5, here from x = 0.1 on, scaled to [0, 1]. */
    private static final double[] TENTHS =
            IntStream.range(0, 10).mapToDouble(i -> i / 9.0).toArray();

    private static double paper(double x) {
        return -1 / (x + 0.1) + 5;
    }

    @Test
    void findsThePapersKnee() {
        int knee = find(TENTHS, map(TENTHS, KneedleTest::paper), Shape.INCREASING_CONCAVE);
        assertThat(TENTHS[knee]).isEqualTo(2 / 9.0); // 0.22
    }

    @Test
    void comesCloseToTheKneeOfManyPoints() {
        double[] x = IntStream.rangeClosed(0, 1000).mapToDouble(i -> i / 1000.0).toArray();
        int knee = find(x, map(x, KneedleTest::paper), Shape.INCREASING_CONCAVE);
        // Where the scaled curve has slope 1: (x + 0.1)^2 = 0.11.
        assertThat(x[knee]).isBetween(0.231, 0.233);
    }

    @ParameterizedTest
    @EnumSource
    void mirrorsEveryShape(Shape shape) {
        boolean mirrorX = shape == Shape.INCREASING_CONVEX || shape == Shape.DECREASING_CONCAVE;
        boolean mirrorY = shape == Shape.INCREASING_CONVEX || shape == Shape.DECREASING_CONVEX;
        double[] x = DoubleStream.of(0, 1, 2, 4, 5, 7, 8, 10, 12, 20).map(v -> v / 20).toArray();
        double[] curve = map(x, v -> Math.sqrt(v));
        double[] mirroredX = mirrorX ? reversed(map(x, v -> 1 - v)) : x;
        double[] y = map(mirrorX ? reversed(curve) : curve, v -> mirrorY ? 7 - v : v);
        int knee = find(mirroredX, y, shape);
        assertThat(mirroredX[knee]).isEqualTo(mirrorX ? 1 - 0.25 : 0.25); // slope 1 of the root
    }

    @Test
    void straightFlatAndShortCurvesHaveNone() {
        assertThat(Kneedle.find(TENTHS, TENTHS, Shape.INCREASING_CONCAVE, 1)).isEmpty();
        assertThat(Kneedle.find(TENTHS, new double[10], Shape.INCREASING_CONCAVE, 1)).isEmpty();
        assertThat(
                        Kneedle.find(
                                new double[] {1, 2},
                                new double[] {1, 2},
                                Shape.INCREASING_CONCAVE,
                                1))
                .isEmpty();
    }

    @Test
    void sensitivityAsksForAClearerKnee() {
        double[] y = map(TENTHS, KneedleTest::paper);
        assertThat(Kneedle.find(TENTHS, y, Shape.INCREASING_CONCAVE, 4)).isPresent();
        assertThat(Kneedle.find(TENTHS, y, Shape.INCREASING_CONCAVE, 9)).isEmpty();
    }

    @Test
    void aDentBeforeTheKneeIsNoKnee() {
        double[] x = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
        double[] y = {0, 3, 3.9, 5.9, 7, 8.1, 8.4, 8.8, 9.2, 9.6, 10};
        // Heights (in tenths): 0 2 1.9 2.9 3 3.1 2.4 1.8 ...: at 1 it falls by 0.01, less than 0.1.
        assertThat(find(x, y, Shape.INCREASING_CONCAVE)).isEqualTo(5);
    }

    @Test
    void refusesWhatIsNoCurve() {
        assertThatThrownBy(
                        () -> find(new double[] {1, 1, 2}, new double[3], Shape.INCREASING_CONCAVE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("point 1");
        assertThatThrownBy(() -> find(TENTHS, new double[3], Shape.INCREASING_CONCAVE))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static int find(double[] x, double[] y, Shape shape) {
        return Kneedle.find(x, y, shape, Kneedle.DEFAULT_SENSITIVITY).orElse(-1);
    }

    private static double[] map(double[] values, DoubleUnaryOperator f) {
        return DoubleStream.of(values).map(f).toArray();
    }

    private static double[] reversed(double[] values) {
        return IntStream.range(0, values.length)
                .mapToDouble(i -> values[values.length - 1 - i])
                .toArray();
    }
}
