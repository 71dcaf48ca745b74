package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What tests assume of their queries. */
class QueryKindTest {
    /** Whoever waits for a batch feeds by it: an estimate that drifts ends the feeding for ever. */
    @ParameterizedTest
    @EnumSource
    void howManyStepsWentIntoRowsIsKnownHoweverManyThereAre(QueryKind kind) {
        for (int steps : new int[] {1, 2, 7, 50, 421, 3_000}) {
            int rows = kind.expected(steps).size();
            assertThat(kind.steps(rows)).as("of %d", steps).isBetween(steps - 2, steps);
        }
    }
}
