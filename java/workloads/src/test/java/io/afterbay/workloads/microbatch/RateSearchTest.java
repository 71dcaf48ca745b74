package io.afterbay.workloads.microbatch;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RateSearchTest {
    private static final int MOST = 1_000_000;

    private static double search(int first, double limit, int most) {
        RateSearch search = new RateSearch(first, most);
        int attempts = 1;
        while (search.tried(search.next() <= limit)) {
            attempts++;
        }
        assertThat(attempts).isLessThanOrEqualTo(12);
        return search.sustained();
    }

    @ParameterizedTest
    @ValueSource(doubles = {400, 2500, 2600, 9_999, 47_000})
    void isCloseToTheLimitAndNotAboveIt(double limit) {
        assertThat(search(2500, limit, MOST)).isBetween(limit / RateSearch.CLOSE, limit);
    }

    @Test
    void endsWhereNothingOrEverythingIsSustained() {
        assertThat(search(4, 0, MOST)).isZero();
        assertThat(search(2500, 1e9, 10_000)).isEqualTo(10_000);
    }
}
