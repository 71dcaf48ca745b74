package io.afterbay.bench;

import static io.afterbay.bench.Figure.CPU_US_PER_EVENT;
import static io.afterbay.bench.Figure.EVENTS_PER_S;
import static io.afterbay.bench.RunBuilder.run;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ComparisonTableTest {
    private static Comparison of(String latencySource, Boolean outputsEqual, Run... runs) {
        List<Run> all = List.of(runs);
        return new Comparison(
                "nexmark --query q7",
                "./afterbay compare nexmark --query q7",
                Map.of("flink", "2.3.0"),
                latencySource,
                20_000.0,
                all,
                Ratios.of(all),
                outputsEqual,
                List.of());
    }

    @Test
    void showsMediansRatiosAndFailures() {
        Comparison comparison =
                of(
                        "results",
                        true,
                        run("afterbay", 1)
                                .with(EVENTS_PER_S, 400_000)
                                .with(CPU_US_PER_EVENT, 2)
                                .build(),
                        run("rocksdb", 1)
                                .with(EVENTS_PER_S, 100_000)
                                .with(CPU_US_PER_EVENT, 1)
                                .build(),
                        run("hashmap", 1).failed("out of memory: Java heap space").build(),
                        run("afterbay", 2)
                                .with(EVENTS_PER_S, 200_000)
                                .with(CPU_US_PER_EVENT, 2)
                                .build(),
                        run("rocksdb", 2)
                                .with(EVENTS_PER_S, 100_000)
                                .with(CPU_US_PER_EVENT, 4)
                                .build());
        assertThat(ComparisonTable.render(comparison))
                .isEqualTo(
                        """
                        nexmark --query q7

                        median         better  afterbay  rocksdb  hashmap
                        finished runs            2 of 2   2 of 2   0 of 1
                        events/s         more   300,000  100,000        -
                        CPU us/event     less      2.00     2.50        -

                        afterbay / other  better              rocksdb  hashmap
                        events/s            more  3.00 [2.00..4.00] +        -
                        CPU us/event        less  1.25 [0.50..2.00] ~        -
                        median of the pairs [lowest..highest]; + better in all pairs, - worse in all, ~ neither

                        failed: hashmap, pair 1: out of memory: Java heap space

                        outputs: the same rows in all finished runs
                        latency: from the time an event was due to its result, at 20,000 events/s

                        flink: 2.3.0
                        """);
    }

    @Test
    void saysWhenTheComparisonIsNotOne() {
        Run only = run("afterbay", 1).with(EVENTS_PER_S, 1).build();
        assertThat(ComparisonTable.render(of("results", false, only)))
                .contains("outputs: DIFFERENT ROWS")
                .doesNotContain("afterbay / other");
        assertThat(ComparisonTable.render(of("markers", null, only)))
                .contains("outputs: not compared", "latency: of Flink's latency markers");
    }

    @Test
    void marksAWorseBackend() {
        Comparison comparison =
                of(
                        "results",
                        true,
                        run("afterbay", 1).with(EVENTS_PER_S, 1).with(CPU_US_PER_EVENT, 3).build(),
                        run("hashmap", 1).with(EVENTS_PER_S, 2).with(CPU_US_PER_EVENT, 1).build());
        assertThat(ComparisonTable.render(comparison))
                .contains("0.50 [0.50..0.50] -", "3.00 [3.00..3.00] -");
    }
}
