package io.afterbay.maintenance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SpreadTest {
    @Test
    void placesAreEvenForEveryNumberOfThem() {
        for (int n = 2; n <= 512; n++) {
            double[] gaps = gaps(IntStream.range(0, n).mapToDouble(Spread::ofPlace).toArray());
            assertThat(gaps[0] * n).as("smallest gap of " + n).isGreaterThanOrEqualTo(0.38);
            assertThat(gaps[n - 1] * n).as("largest gap of " + n).isLessThan(2);
        }
    }

    @Test
    void namesAreLessEvenThanPlaces() { // the negative control
        double[] gaps =
                gaps(IntStream.range(0, 64).mapToDouble(i -> Spread.ofName("op-" + i)).toArray());
        assertThat(gaps[63] * 64).isGreaterThan(2);
    }

    @Test
    void instancesOfAGroupAreAsEvenAsPlaces() {
        double[] gaps =
                gaps(IntStream.range(0, 64).mapToDouble(i -> Spread.of("window", i)).toArray());
        assertThat(gaps[0] * 64).isGreaterThanOrEqualTo(0.38);
        assertThat(Spread.of("window", 0)).isNotEqualTo(Spread.of("join", 0));
    }

    @Test
    void namesFillTheCircle() {
        int[] quarters = new int[4];
        for (int i = 0; i < 4000; i++) {
            quarters[Spread.triggerOffset(Spread.ofName("task (" + i + "/4000)"), 4)]++;
        }
        assertThat(IntStream.of(quarters).boxed())
                .allSatisfy(count -> assertThat(count).isBetween(850, 1150));
    }

    @Test
    void phaseOfANameNeverChanges() {
        assertThat(Spread.ofName("")).isEqualTo(Spread.ofName(""));
        assertThat(Spread.ofName("window-7")).isEqualTo(Spread.ofName("window" + "-7"));
        assertThat(Spread.ofName("window-7")).isNotEqualTo(Spread.ofName("window-8"));
    }

    @Test
    void offsetsOfAGroupAreShared() {
        int[] offsets = new int[4];
        IntStream.range(0, 64).forEach(i -> offsets[Spread.triggerOffset(Spread.of("w", i), 4)]++);
        assertThat(IntStream.of(offsets).boxed())
                .allSatisfy(count -> assertThat(count).isBetween(14, 18));
    }

    @Test
    void offsetsStayInRange() {
        assertThat(Spread.triggerOffset(0, 4)).isZero();
        assertThat(Spread.triggerOffset(Math.nextDown(1.0), 4)).isEqualTo(3);
        assertThatThrownBy(() -> Spread.triggerOffset(1, 4))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Spread.ofPlace(-1)).isInstanceOf(IllegalArgumentException.class);
    }

    /** Distances between neighbours on the circle, sorted. */
    private static double[] gaps(double[] phases) {
        double[] sorted = IntStream.range(0, phases.length).mapToDouble(i -> phases[i]).toArray();
        Arrays.sort(sorted);
        return IntStream.range(0, sorted.length)
                .mapToDouble(i -> i == 0 ? sorted[0] + 1 - last(sorted) : sorted[i] - sorted[i - 1])
                .sorted()
                .toArray();
    }

    private static double last(double[] values) {
        return values[values.length - 1];
    }
}
