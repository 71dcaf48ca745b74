package io.afterbay.stragglers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Assume;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class WeightedTurnsTest {
    private static int[] counts(WeightedTurns turns, int options, int row) {
        int[] counts = new int[options];
        for (int i = 0; i < row; i++) {
            counts[turns.next()]++;
        }
        return counts;
    }

    /** Drawn at random, a row of a thousand would be off by some fifteen. */
    @Property(tries = 200)
    void inAnyRowEachHasAboutItsShare(
            @ForAll long first,
            @ForAll @Size(min = 1, max = 8) List<@DoubleRange(min = 0, max = 100) Double> of,
            @ForAll @IntRange(min = 1, max = 1_000) int row) {
        double[] weights = of.stream().mapToDouble(weight -> weight).toArray();
        double sum = Arrays.stream(weights).sum();
        Assume.that(sum > 0);
        WeightedTurns turns = new WeightedTurns(first);
        turns.setWeights(weights);
        int[] counts = counts(turns, weights.length, row);
        for (int i = 0; i < weights.length; i++) {
            assertThat((double) counts[i]).isCloseTo(row * weights[i] / sum, within(4.0));
            if (weights[i] == 0) {
                assertThat(counts[i]).isZero();
            }
        }
    }

    @Test
    void withEqualWeightsNobodyHasARowOfTurns() {
        WeightedTurns turns = new WeightedTurns(1);
        turns.setWeights(1, 1, 1, 1);
        int last = -1;
        for (int i = 0; i < 1_000; i++) {
            int next = turns.next();
            assertThat(next).isNotEqualTo(last);
            last = next;
        }
    }

    @Test
    void weightsChangeBetweenTurns() {
        WeightedTurns turns = new WeightedTurns(1);
        assertThat(counts(turns, 1, 10)).containsExactly(10);
        turns.setWeights(0, 2);
        assertThat(counts(turns, 2, 10)).containsExactly(0, 10);
        turns.setWeights(1e300, 0, 0);
        assertThat(counts(turns, 3, 10)).containsExactly(10, 0, 0);
    }

    @Test
    void itBeginsWhereItIsTold() {
        WeightedTurns some = new WeightedTurns(0);
        some.setWeights(1, 1);
        WeightedTurns others = new WeightedTurns(Long.MIN_VALUE);
        others.setWeights(1, 1);
        assertThat(some.next()).isZero();
        assertThat(others.next()).isEqualTo(1);
    }

    @Test
    void weightsThatSayNothingAreRefused() {
        WeightedTurns turns = new WeightedTurns(0);
        for (double weight : new double[] {-1, Double.NaN, Double.NEGATIVE_INFINITY}) {
            assertThatThrownBy(() -> turns.setWeights(1, weight))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("a weight must not be " + weight);
        }
        assertThatThrownBy(turns::setWeights).hasMessageContaining("must not be 0.0");
        assertThatThrownBy(() -> turns.setWeights(0, 0)).hasMessageContaining("must not be 0.0");
        assertThatThrownBy(() -> turns.setWeights(Double.POSITIVE_INFINITY))
                .hasMessageContaining("must not be Infinity");
        assertThat(turns.next()).as("as before").isZero();
    }
}
