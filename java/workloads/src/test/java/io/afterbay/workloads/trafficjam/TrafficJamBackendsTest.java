package io.afterbay.workloads.trafficjam;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.CityTrace;
import io.afterbay.testing.TestForm;
import io.afterbay.workloads.run.Backends;
import io.afterbay.workloads.run.RunObserver;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The city trace through the job on each backend, compared line by line with the reference, which
 * is compared with answers from elsewhere.
 */
class TrafficJamBackendsTest {
    private static final Path EXAMPLE = Path.of("../../examples/traffic-jam");
    private static final String AFTERBAY = "io.afterbay.flink.AfterbayStateBackendFactory";
    private static final String TRACE = EXAMPLE.resolve("city-traffic.csv.gz").toString();

    @TempDir private Path directory;

    @Test
    void referenceGivesTheExpectedFileThatWasMadeIndependently() throws Exception {
        TrafficJamReference reference = TrafficJamReference.read(new TraceFile(TRACE));
        List<String> expected = Files.readAllLines(EXAMPLE.resolve("expected.csv"));
        assertThat(expected).startsWith(RankingRow.HEADER).hasSize(601);
        assertThat(reference.lines(1)).isEqualTo(expected.subList(1, expected.size()));
        assertThat(reference.accepted()).isEqualTo(770_513);
    }

    /** From the origin of the data: what the simulator's jam at the end looks like. */
    @Test
    void fromSecondThousandOnStreet229HasTheMostReports() throws Exception {
        Map<String, long[]> streets = new HashMap<>();
        try (TraceLines trace = new TraceLines(new TraceFile(TRACE), 1)) {
            trace.seek(0, 0, 0);
            for (TraceLine line = trace.next(); !line.isEndOfPass(); line = trace.next()) {
                if (line.report().timeS() >= 1000) {
                    long[] sum = streets.computeIfAbsent(line.report().street(), s -> new long[2]);
                    sum[0]++;
                    sum[1] += line.report().speedDms();
                }
            }
        }
        String most =
                streets.keySet().stream()
                        .max(Comparator.comparing(street -> streets.get(street)[0]))
                        .orElseThrow();
        assertThat(most).isEqualTo("229");
        assertThat(streets.get("229")[0]).isEqualTo(3946);
        assertThat(streets.get("229")[1] / 39460.0).isBetween(1.325, 1.335);
    }

    /** In the normal form, ours with all of its kinds of state. */
    static List<Arguments> backendsAndHistories() {
        List<Arguments> all = new ArrayList<>(List.of(Arguments.of(AFTERBAY, 5)));
        if (TestForm.IS_LONG) {
            all.add(Arguments.of("hashmap", 1));
            all.add(Arguments.of("rocksdb", 1));
            all.add(Arguments.of("rocksdb-heap-timers", 1));
            all.add(Arguments.of("rocksdb-heap-timers", 5));
            all.add(Arguments.of(AFTERBAY, 1));
        }
        return all;
    }

    @ParameterizedTest
    @MethodSource("backendsAndHistories")
    void everyBackendGivesTheRowsOfTheReference(String backend, int history) throws Exception {
        String input =
                CityTrace.first(TestForm.BACKEND_REPORTS, directory.resolve("in.csv")).toString();
        Path output = directory.resolve("out.csv");
        String run = "backends-" + backend + history;
        AtomicLong arrived = new AtomicLong();
        TrafficJamStatistics.of(run)
                .observe(
                        new RunObserver() {
                            @Override
                            public void arrived(long latencyMicros) {
                                arrived.incrementAndGet();
                            }
                        });
        run(
                backend,
                new TrafficJamOptions(
                        input,
                        output.toString(),
                        null,
                        100,
                        history,
                        history - 1,
                        1,
                        Long.MAX_VALUE,
                        0,
                        run));
        List<String> expected = TrafficJamReference.read(new TraceFile(input)).lines(1);
        List<String> lines = Files.readAllLines(output);
        assertThat(lines).startsWith(RankingRow.HEADER);
        assertThat(lines.subList(1, lines.size())).isEqualTo(expected);
        TrafficJamStatistics statistics = TrafficJamStatistics.of(run);
        assertThat(statistics.accepted()).isEqualTo(TestForm.BACKEND_REPORTS);
        assertThat(arrived).hasValue(TestForm.BACKEND_REPORTS);
        assertThat(statistics.waiting()).isZero();
        assertThat(statistics.late()).isZero();
        assertThat(statistics.malformed()).isZero();
        assertThat(statistics.lastRanking()).hasSize(5);
        long windows = expected.stream().map(row -> row.split(",")[0]).distinct().count();
        assertThat(statistics.latencyMicros().getTotalCount()).isEqualTo(windows);
    }

    private void run(String backend, TrafficJamOptions options) throws Exception {
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.createLocalEnvironment(
                        2, Backends.settings(backend, directory, Duration.ofSeconds(1)));
        TrafficJam.build(env, options);
        env.execute();
    }
}
