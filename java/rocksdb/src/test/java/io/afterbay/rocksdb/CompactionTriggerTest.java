package io.afterbay.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CompactionTriggerTest {
    @ParameterizedTest
    @CsvSource({
        "4, 20, 4 5 6 7", // RocksDB's defaults
        "2, 20, 2 3 4 5", // the user's own
        "8, 20, 8 9 10", // no more than half of the slowdown
        "10, 20, 10",
        "15, 20, 15", // above that already
        "4, 4, 4",
        "4, 9, 4"
    })
    void addsAlphaBelowHalfOfTheSlowdown(int trigger, int slowdown, String expected) {
        int[] triggers =
                IntStream.range(0, 100)
                        .map(i -> CompactionTrigger.spread(trigger, slowdown, i / 100.0))
                        .distinct()
                        .toArray();
        assertThat(triggers)
                .containsExactly(
                        Arrays.stream(expected.split(" ")).mapToInt(Integer::parseInt).toArray());
    }

    @ParameterizedTest
    @CsvSource({"20, 16", "6, 4", "3, 1", "1, 1", "100, 80"})
    void guardsBelowTheSlowdown(int slowdown, int files) {
        assertThat(CompactionTrigger.guardFiles(slowdown)).isEqualTo(files);
    }
}
