package io.afterbay.experiments.queries;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.bench.Cell;
import io.afterbay.bench.Provenance;
import io.afterbay.bench.RecordedTrial;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The pages about latency and about parameters of the store. */
class QueryPagesTest {
    private static final QueryTrial.Resources RESOURCES = new QueryTrial.Resources(500.0, 50.0);

    private final List<RecordedTrial<QueryTrial>> trials = new ArrayList<>();

    private static Provenance provenance(String experiment) {
        return new Provenance(
                experiment,
                "abc",
                Map.of("flink", "2.3.0"),
                "./afterbay bench " + experiment,
                "2026-11-22T10:00:00Z",
                0.1,
                2.0,
                null);
    }

    private void maximum(double eventsPerS) {
        add("latency", closed("rocksdb-heap-timers", null, null, false, 0, "r", eventsPerS));
    }

    private void swept(String value, boolean isDefault, int pair, double eventsPerS) {
        add(
                "sweep",
                closed(
                        "afterbay",
                        "max-space-amplification",
                        value,
                        isDefault,
                        pair,
                        "r",
                        eventsPerS));
    }

    private static QueryTrial closed(
            String backend,
            String parameter,
            String value,
            boolean isDefault,
            int pair,
            String rows,
            double eventsPerS) {
        return none(backend, 0, parameter, value, isDefault, pair)
                .with(
                        rows,
                        new QueryTrial.ClosedLoop(eventsPerS, 10.0, 6.0, 3.0, 2.0, 1.5, 100.0),
                        RESOURCES);
    }

    private static QueryTrial none(
            String backend,
            int percent,
            String parameter,
            String value,
            boolean isDefault,
            int pair) {
        return QueryTrial.none(
                new QueryTrial.Setting(
                        backend, "q7", Cell.IN_MEMORY, percent, parameter, value, isDefault, pair));
    }

    private void open(String backend, int percent, int pair, double p99Ms, String rows) {
        add(
                "latency",
                none(backend, percent, null, null, false, pair)
                        .with(
                                rows,
                                new QueryTrial.OpenLoop(
                                        700.0, 1.0, p99Ms, 2 * p99Ms, 3 * p99Ms, p99Ms / 2),
                                RESOURCES));
    }

    private void add(String experiment, QueryTrial trial) {
        trials.add(new RecordedTrial<>(provenance(experiment), trial));
    }

    @Test
    void judgesLatenciesAtTheRateOfTheAim() {
        maximum(1000);
        open("afterbay", 70, 1, 20, "r");
        open("rocksdb-heap-timers", 70, 1, 100, "r");
        open("hashmap", 70, 1, 30, "r");
        open("afterbay", 90, 1, 200, "r");
        open("rocksdb-heap-timers", 90, 1, 100, "s");
        assertThat(new LatencyPage(trials).details())
                .isEqualTo(
                        """
                        - Aim: at 70 % of the maximum rate of rocksdb-heap-timers, P99 is at most 0.3x of it. Met by 1 of 1.
                        - Aim: at 70 % of the maximum rate of rocksdb-heap-timers, P99.9 is at most 0.3x of it. Met by 1 of 1.
                        - Aim: the longest stall of the input in `q7` is at most 0.5x of hashmap's. Met by 0 of 1.

                        The maximum rate (closed loop):

                        | cell | query | backend | events/s | CPU us/event | pairs | revision |
                        |---|---|---|---|---|---|---|
                        | memory | `q7` | `rocksdb-heap-timers` | 1,000 [1,000..1,000] | 10.0 [10.0..10.0] | one pair, indicative | abc |

                        At shares of it (open loop), median of the runs [lowest..highest]:

                        | cell | query | rate | backend | P50, ms | P99, ms | P99.9, ms | max, ms | longest stall, ms | P99 to rocksdb-heap-timers | P99.9 to rocksdb-heap-timers | stall to hashmap | rows | pairs | revision |
                        |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
                        | memory | `q7` | 70 % | `afterbay` | 1.00 [1.00..1.00] | 20.0 [20.0..20.0] | 40.0 [40.0..40.0] | 60.0 [60.0..60.0] | 10.0 [10.0..10.0] | 0.20 [0.20..0.20] | 0.20 [0.20..0.20] | 0.67 [0.67..0.67] | equal | one pair, indicative | abc |
                        | memory | `q7` | 70 % | `hashmap` | 1.00 [1.00..1.00] | 30.0 [30.0..30.0] | 60.0 [60.0..60.0] | 90.0 [90.0..90.0] | 15.0 [15.0..15.0] | 0.30 [0.30..0.30] | 0.30 [0.30..0.30] | – | equal | one pair, indicative | abc |
                        | memory | `q7` | 70 % | `rocksdb-heap-timers` | 1.00 [1.00..1.00] | 100 [100..100] | 200 [200..200] | 300 [300..300] | 50.0 [50.0..50.0] | – | – | 3.33 [3.33..3.33] | equal | one pair, indicative | abc |
                        | memory | `q7` | 90 % | `afterbay` | 1.00 [1.00..1.00] | 200 [200..200] | 400 [400..400] | 600 [600..600] | 100 [100..100] | 2.00 [2.00..2.00] | 2.00 [2.00..2.00] | – | **differ** | one pair, indicative | abc |
                        | memory | `q7` | 90 % | `rocksdb-heap-timers` | 1.00 [1.00..1.00] | 100 [100..100] | 200 [200..200] | 300 [300..300] | 50.0 [50.0..50.0] | – | – | – | **differ** | one pair, indicative | abc |

                        Recorded 2026-11-22 at revision abc (flink 2.3.0). To repeat:

                        ```sh
                        ./afterbay bench latency
                        ```
                        """);
    }

    @Test
    void comparesValuesWithTheDefaultPairByPair() {
        swept("2", false, 1, 110);
        swept("1.5", true, 1, 100);
        swept("1.5", true, 2, 200);
        swept("2", false, 2, 180);
        assertThat(new SweepPage(trials).details())
                .isEqualTo(
                        """
                        `max-space-amplification`, median of the runs [lowest..highest]:

                        | query | cell | value | events/s | to the default | CPU us/event | of it writes of state | reads of state | in the background | written, MB | disk, MB | rows | pairs | revision |
                        |---|---|---|---|---|---|---|---|---|---|---|---|---|---|
                        | `q7` | memory | 1.5 (default) | 150 [100..200] | – | 10.0 [10.0..10.0] | 2.00 [2.00..2.00] | 1.50 [1.50..1.50] | 3.00 [3.00..3.00] | 100 [100..100] | 50.0 [50.0..50.0] | equal | 2 pairs | abc |
                        | `q7` | memory | 2 | 145 [110..180] | 1.00 [0.90..1.10] | 10.0 [10.0..10.0] | 2.00 [2.00..2.00] | 1.50 [1.50..1.50] | 3.00 [3.00..3.00] | 100 [100..100] | 50.0 [50.0..50.0] | equal | 2 pairs | abc |

                        Recorded 2026-11-22 at revision abc (flink 2.3.0). To repeat:

                        ```sh
                        ./afterbay bench sweep
                        ```
                        """);
    }

    @Test
    void sizesAreInTheirOrder() {
        swept("1m", false, 1, 1);
        swept("64k", false, 1, 1);
        swept("256k", true, 1, 1);
        assertThat(new SweepPage(trials).kinds().map(SweepPage.Kind::value))
                .containsExactly("64k", "256k", "1m");
    }

    @Test
    void linesFromBeforeTheStoreWasMeasuredAreRead(@TempDir Path directory) throws IOException {
        String old =
                "{\"experiment\":\"sweep\",\"revision\":\"a\",\"versions\":{},\"command\":\"c\",\"date\":"
                        + "\"2026-11-22T14:50:48Z\",\"backend\":\"afterbay\",\"query\":\"q12\",\"cell\":"
                        + "\"memory\",\"rate_percent\":0,\"parameter\":\"p\",\"value\":\"4\",\"is_default\":"
                        + "true,\"pair\":2,\"failure\":null,\"rows\":\"r\",\"task_cpu_us_per_event\":9.5,"
                        + "\"p50_ms\":null,\"disk_mb\":1167}\n";
        Files.writeString(directory.resolve("sweep.jsonl"), old);
        QueryTrial run = SweepPage.read(directory).get(0).run();
        assertThat(run.setting())
                .isEqualTo(
                        new QueryTrial.Setting(
                                "afterbay", "q12", Cell.IN_MEMORY, 0, "p", "4", true, 2));
        assertThat(run.rows()).isEqualTo("r");
        assertThat(run.closedLoop().taskCpuUsPerEvent()).isEqualTo(9.5);
        assertThat(run.closedLoop().storeWriteCpuUsPerEvent()).isNull();
        assertThat(run.resources().diskMb()).isEqualTo(1167);
    }

    @Test
    void aLineHasAllFieldsInOneObject(@TempDir Path directory) throws IOException {
        maximum(1000);
        RecordedTrial.append(directory, trials);
        assertThat(Files.readString(directory.resolve("latency.jsonl")))
                .contains(
                        "\"query\":\"q7\"",
                        "\"is_default\":false",
                        "\"rows\":\"r\"",
                        "\"store_read_cpu_us_per_event\":1.5",
                        "\"p999_ms\":null",
                        "\"disk_mb\":50")
                .doesNotContain("setting", "outcome");
    }

    @Test
    void trialsComeBackFromTheirLines(@TempDir Path directory) throws IOException {
        maximum(1000);
        add("latency", trials.get(0).run().failed("no room"));
        RecordedTrial.append(directory, trials);
        assertThat(LatencyPage.read(directory)).isEqualTo(trials);
    }
}
