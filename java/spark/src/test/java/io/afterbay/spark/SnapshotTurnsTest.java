package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SnapshotTurnsTest {
    private static long due(int partitions, int period, long version) {
        return IntStream.range(0, partitions)
                .filter(p -> SnapshotTurns.of(0, "default", p, period).isDue(version))
                .count();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 10})
    void eachStoreHasOneSnapshotInEachPeriod(int period) {
        for (int p = 0; p < 25; p++) {
            SnapshotTurns turns = SnapshotTurns.of(3, "default", p, period);
            for (long begin = 1; begin < 50; begin++) {
                long end = begin + period;
                assertThat(LongStream.range(begin, end).filter(turns::isDue).count()).isOne();
            }
        }
    }

    @Test
    void partitionsAreSpreadEvenly() {
        for (long version = 1; version < 40; version++) {
            assertThat(due(20, 10, version)).isEqualTo(2);
            assertThat(due(7, 10, version)).isLessThanOrEqualTo(1);
        }
    }

    @Test
    void turnsAreTheSameAfterARestartAndBeginElsewhereForOtherStores() {
        assertThat(SnapshotTurns.of(1, "left-keyToNumValues", 5, 10))
                .isEqualTo(new SnapshotTurns(10, 9));
        assertThat(SnapshotTurns.of(0, "default", 0, 10))
                .isNotEqualTo(SnapshotTurns.of(1, "default", 0, 10));
        assertThat(SnapshotTurns.of(0, "left-keyToNumValues", 0, 10))
                .isNotEqualTo(SnapshotTurns.of(0, "right-keyToNumValues", 0, 10));
    }

    @Test
    void aPeriodOfOneOrLessIsEachVersion() {
        assertThat(SnapshotTurns.of(0, "default", 7, 0).isDue(5)).isTrue();
    }
}
