package io.afterbay.bench;

import static io.afterbay.bench.Figure.EVENTS_PER_S;
import static io.afterbay.bench.Figure.GC_MS;
import static io.afterbay.bench.RunBuilder.run;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RatiosTest {
    private static Run throughput(String backend, int pair, double eventsPerS) {
        return run(backend, pair).with(EVENTS_PER_S, eventsPerS).build();
    }

    @Test
    void areTakenWithinPairs() {
        // Medians of each backend would give 200/100.
        List<Run> runs =
                List.of(
                        throughput("afterbay", 1, 100),
                        throughput("rocksdb", 1, 10),
                        throughput("rocksdb", 2, 100),
                        throughput("afterbay", 2, 200),
                        throughput("afterbay", 3, 900),
                        throughput("rocksdb", 3, 300));
        assertThat(Ratios.of(runs))
                .isEqualTo(Map.of("afterbay/rocksdb", Map.of("events_per_s", new Ratio(3, 2, 10))));
    }

    @Test
    void ofAnEvenNumberTakeTheMeanOfTheMiddle() {
        assertThat(Ratio.of(4, 1, 2, 10)).isEqualTo(new Ratio(3, 1, 10));
    }

    @Test
    void leaveOutWhatOneSideDoesNotHave() {
        List<Run> runs =
                List.of(
                        throughput("afterbay", 1, 100),
                        run("hashmap", 1).build(),
                        throughput("hashmap", 2, 50),
                        throughput("afterbay", 3, 80),
                        throughput("hashmap", 3, 40));
        assertThat(Ratios.of(runs).get("afterbay/hashmap"))
                .isEqualTo(Map.of("events_per_s", new Ratio(2, 2, 2)));
    }

    @Test
    void leaveOutFailedRunsAndZeroDivisors() {
        List<Run> runs =
                List.of(
                        run("afterbay", 1).with(EVENTS_PER_S, 10).with(GC_MS, 5).build(),
                        run("hashmap", 1).with(EVENTS_PER_S, 1).failed("out of memory").build(),
                        run("rocksdb", 1).with(GC_MS, 0).build());
        assertThat(Ratios.of(runs))
                .isEqualTo(Map.of("afterbay/hashmap", Map.of(), "afterbay/rocksdb", Map.of()));
    }

    @Test
    void compareWithTheFirstWhereAfterbayIsMissing() {
        List<Run> runs = List.of(throughput("rocksdb", 1, 30), throughput("hashmap", 1, 10));
        assertThat(Ratios.of(runs)).containsOnlyKeys("rocksdb/hashmap");
        assertThat(Ratios.of(List.of())).isEmpty();
    }
}
