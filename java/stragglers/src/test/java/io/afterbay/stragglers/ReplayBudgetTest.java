package io.afterbay.stragglers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ReplayBudgetTest {
    private static ReplayBudget open(double share, int burst) {
        ReplayBudget budget = new ReplayBudget(share, burst);
        budget.utilisation(0.3, 0.3);
        return budget;
    }

    private static int replaysAfter(ReplayBudget budget, int tuples) {
        for (int i = 0; i < tuples; i++) {
            budget.emitted();
        }
        int replays = 0;
        while (budget.tryReplay()) {
            replays++;
        }
        return replays;
    }

    @Test
    void isTheShareOfTheTraffic() {
        ReplayBudget budget = open(0.02, 1_000_000);
        assertThat(replaysAfter(budget, 0)).isZero();
        assertThat(replaysAfter(budget, 49)).isZero();
        assertThat(replaysAfter(budget, 1)).isEqualTo(1);
        assertThat(replaysAfter(budget, 1_000_000)).isEqualTo(20_000);
        assertThat(budget.replays()).isEqualTo(20_001);
        assertThat(budget.refusals()).isEqualTo(4);
    }

    @Test
    void doesNotSaveMoreThanTheBurst() {
        assertThat(replaysAfter(open(0.02, 10), 1_000_000)).isEqualTo(10);
        assertThat(replaysAfter(open(0.2, 1), 1_000)).isEqualTo(1);
    }

    @Test
    void aBudgetOfNothingReplaysNothing() {
        assertThat(replaysAfter(open(0, 10), 10_000_000)).isZero();
    }

    @Test
    void theLargestBurstDoesNotOverflow() {
        assertThat(replaysAfter(open(0.2, Integer.MAX_VALUE), 1_000_000)).isEqualTo(200_000);
    }

    @ParameterizedTest
    @CsvSource({
        "0.58, 0.49, true",
        "0.5801, 0.1, false",
        "0.1, 0.4901, false",
        "0, 0, true",
        "-0.1, -0.1, true",
        "NaN, 0.1, false",
        "0.1, NaN, false",
        "Infinity, 0.1, false",
    })
    void isClosedWhereTheSystemIsBusy(double queues, double processors, boolean isOpen) {
        ReplayBudget budget = open(0.02, 10);
        budget.utilisation(queues, processors);
        assertThat(budget.isOpen()).isEqualTo(isOpen);
        assertThat(replaysAfter(budget, 100)).isEqualTo(isOpen ? 2 : 0);
    }

    @ParameterizedTest
    @CsvSource({
        "1, 1, 1, 1, true",
        "1, 1, NaN, 0.1, false",
        "1, 1, 0.1, NaN, false",
        "0.7, 0.2, 0.7, 0.2, true",
        "0.7, 0.2, 0.71, 0.1, false",
        "0.7, 0.2, 0.1, 0.21, false",
    })
    void otherLimitsCount(
            double queuesMax,
            double processorsMax,
            double queues,
            double processors,
            boolean isOpen) {
        ReplayBudget budget = new ReplayBudget(0.02, 10, queuesMax, processorsMax);
        budget.utilisation(queues, processors);
        assertThat(budget.isOpen()).isEqualTo(isOpen);
    }

    @ParameterizedTest
    @ValueSource(doubles = {-0.01, 1.01, 49, Double.NaN})
    void refusesOtherLimits(double limit) {
        assertThatThrownBy(() -> new ReplayBudget(0.02, 10, limit, 0.5))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("of the queues")
                .hasMessageContaining("0..1, not " + limit);
        assertThatThrownBy(() -> new ReplayBudget(0.02, 10, 0.5, limit))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("of the processors");
    }

    @Test
    void isClosedUntilItKnows() {
        assertThat(replaysAfter(new ReplayBudget(0.02, 10), 1000)).isZero();
    }

    @Test
    void opensAndClosesAgain() {
        ReplayBudget budget = open(0.02, 10);
        budget.utilisation(0.9, 0.3);
        assertThat(replaysAfter(budget, 1000)).isZero();
        budget.utilisation(0.3, 0.3);
        assertThat(replaysAfter(budget, 0)).isEqualTo(10);
    }

    @ParameterizedTest
    @ValueSource(doubles = {-0.01, 0.2001, 1, 20, Double.NaN, Double.POSITIVE_INFINITY})
    void refusesOtherShares(double share) {
        assertThatThrownBy(() -> new ReplayBudget(share, 10))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("0..0.2")
                .hasMessageContaining("" + share);
    }

    @Test
    void refusesNoBurst() {
        assertThatThrownBy(() -> new ReplayBudget(0.02, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("1 or more");
    }
}
