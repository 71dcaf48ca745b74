package io.afterbay.stragglers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class ErlangCTest {
    private static final Offset<Double> EXACT = within(1e-12);

    @Test
    void isTheKnownFormulaForFewServers() {
        for (double rho = 0; rho < 1; rho += 0.05) {
            assertThat(ErlangC.waitProbability(1, rho)).isCloseTo(rho, EXACT);
            assertThat(ErlangC.waitProbability(2, rho)).isCloseTo(2 * rho * rho / (1 + rho), EXACT);
        }
    }

    @Test
    void isEquationTwoWithThePower() {
        assertThat(ErlangC.waitProbability(4, 0.78)).isCloseTo(equation(4, 0.78, 4), EXACT);
        assertThat(ErlangC.waitProbability(8, 0.5)).isCloseTo(equation(8, 0.5, 8), EXACT);
        // As printed: at four servers, one of 25 tuples would wait, where it is more than half.
        assertThat(equation(4, 0.78, 1)).isLessThan(0.05);
        assertThat(ErlangC.waitProbability(4, 0.78)).isGreaterThan(0.5);
    }

    /** Equation 2 of the paper, with that power in its numerator. */
    private static double equation(int c, double rho, int power) {
        double sum = 0;
        for (int k = 0; k < c; k++) {
            sum += Math.pow(c * rho, k) / factorial(k);
        }
        double waiting = Math.pow(c * rho, power) / factorial(c) / (1 - rho);
        return waiting / (sum + waiting);
    }

    private static double factorial(int n) {
        return n == 0 ? 1 : n * factorial(n - 1);
    }

    @Test
    void oneServerWaitsAsInThePapersFigure() {
        // M/M/1: rho / (mu - lambda).
        assertThat(ErlangC.meanWaitSeconds(1, 350, 450)).isCloseTo(350.0 / 450 / 100, EXACT);
    }

    @Test
    void moreServersWaitLess() {
        for (int c = 1; c < 64; c++) {
            assertThat(ErlangC.meanWaitSeconds(c + 1, 350 * (c + 1), 450))
                    .isLessThan(ErlangC.meanWaitSeconds(c, 350 * c, 450));
        }
    }

    /**
     * Tuples that go to two tasks by chance have a 99th percentile of which one queue for both
     * saves less than half, at any load. So it cannot halve that of a grouping that does no worse.
     */
    @Test
    void oneQueueForTwoTasksSavesLessThanHalfOfTheTailOfChance() {
        for (double rho : new double[] {0.7, 0.78, 0.9, 0.95, 0.99}) {
            double halfOfChance = -Math.log(0.01) / (1 - rho) / 2;
            assertThat(longerThan(2, rho, halfOfChance)).isBetween(0.01, 0.02);
            assertThat(longerThan(4, rho, halfOfChance)).isLessThan(0.01);
        }
    }

    /** How many tuples take longer in M/M/c, in mean service times. */
    private static double longerThan(int c, double rho, double time) {
        double drain = c * (1 - rho);
        double waited = (drain * Math.exp(-time) - Math.exp(-drain * time)) / (drain - 1);
        double waitProbability = ErlangC.waitProbability(c, rho);
        return waitProbability * waited + (1 - waitProbability) * Math.exp(-time);
    }

    @Test
    void manyServersDoNotOverflow() {
        assertThat(ErlangC.waitProbability(100_000, 0.5)).isBetween(0.0, 1e-9);
        assertThat(ErlangC.waitProbability(100_000, 0.9999)).isBetween(0.9, 1.0);
    }

    @Test
    void nothingWaitsWithoutArrivals() {
        assertThat(ErlangC.meanWaitSeconds(3, 0, 1)).isZero();
    }

    @Test
    void refusesWhatHasNoSteadyState() {
        assertThatThrownBy(() -> ErlangC.waitProbability(0, 0.5))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> ErlangC.waitProbability(2, 1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> ErlangC.meanWaitSeconds(2, 900, 450))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("1.0");
        assertThatThrownBy(() -> ErlangC.meanWaitSeconds(2, 100, 0))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
