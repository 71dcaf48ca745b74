package io.afterbay.experiments.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.bench.Provenance;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.experiments.RustPrograms;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class EdgeKindTest {
    private static final long MIB = 1 << 20;

    private final EdgeKind kind = new EdgeKind(List.of(), RustPrograms.Build.DEV);

    private static EdgeTrial trial(EdgeVariant variant, boolean equal, long bytes, long peak) {
        EdgeTrial.Setting setting =
                new EdgeTrial.Setting(variant.label(), 800_000, 15_000, 2_000, 1);
        return EdgeTrial.none(setting)
                .with(
                        new EdgeTrial.Outcome(
                                null, equal, equal ? null : "1 row is missing", 100L, 1_000L),
                        new EdgeTrial.Halves(bytes, 900.0, 3_000.0, peak, 500L),
                        new EdgeTrial.Whole(1_000L, 4_000.0, 9_000.0),
                        variant == EdgeVariant.PRODUCER
                                ? new EdgeTrial.Producers(70 * MIB, 2_000L)
                                : EdgeTrial.Producers.NONE,
                        variant == EdgeVariant.MINI_CLUSTER
                                ? new EdgeTrial.MiniCluster(100 * MIB, 1_000L)
                                : EdgeTrial.MiniCluster.NONE);
    }

    @Test
    void whatIsAsItShouldBeIsNoProblem() {
        assertThat(kind.problems(trial(EdgeVariant.LIVE, true, 200, 30 * MIB))).isEmpty();
        assertThat(kind.problems(trial(EdgeVariant.PRODUCER, true, 200, 30 * MIB))).isEmpty();
        assertThat(kind.problems(trial(EdgeVariant.GUESSED, false, 0, 0))).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(names = {"LIVE", "PRODUCER"})
    void differentRowsManyBytesAndMuchMemoryAreProblems(EdgeVariant variant) {
        assertThat(kind.problems(trial(variant, false, 200, 0)))
                .containsExactly("rows differ: 1 row is missing");
        assertThat(kind.problems(trial(variant, true, 201, 0)))
                .singleElement()
                .asString()
                .contains("0.201x of the whole job's bytes, and at most 0.2x");
        assertThat(kind.problems(trial(variant, true, 200, 30 * MIB + 1)))
                .singleElement()
                .asString()
                .contains("31,457,281 bytes resident, and at most 31,457,280");
    }

    @Test
    void aControlThatLosesNothingIsAProblem() {
        assertThat(kind.problems(trial(EdgeVariant.GUESSED, true, 0, 0)))
                .singleElement()
                .asString()
                .contains("nothing is compared");
    }

    @Test
    void bytesThatNobodyCountedAreAProblem() {
        EdgeTrial none = EdgeTrial.none(trial(EdgeVariant.LIVE, true, 0, 0).setting());
        EdgeTrial equal =
                none.with(
                        new EdgeTrial.Outcome(null, true, null, 1L, 1L),
                        EdgeTrial.Halves.NONE,
                        EdgeTrial.Whole.NONE,
                        EdgeTrial.Producers.NONE,
                        EdgeTrial.MiniCluster.NONE);
        assertThat(kind.problems(equal))
                .singleElement()
                .asString()
                .contains("nobody knows how many");
    }

    @Test
    void aimsAreOfLiveRuns() {
        assertThat(page(trial(EdgeVariant.LIVE, true, 90, 7 * MIB)))
                .contains("to the whole job: at most 0.1x. Met by 1 of 1.")
                .contains("resident memory of an agent: at most 30.0 MiB. Met by 1 of 1.")
                .contains("| links of 800 kbit/s, played in 15 s, down for 2 s |");
        assertThat(page(trial(EdgeVariant.LIVE, true, 150, 31 * MIB)))
                .contains("to the whole job: at most 0.1x. Met by 0 of 1.")
                .contains("resident memory of an agent: at most 30.0 MiB. Met by 0 of 1.");
    }

    @Test
    void bytesToAKafkaProducerAreOfRunsWithOne() {
        String aim = "to a Kafka producer with JSON, zstd and linger 1 s: at most 0.1x. ";
        assertThat(page(trial(EdgeVariant.LIVE, true, 90, 7 * MIB)))
                .contains(aim + "Not measured.")
                .doesNotContain("producer, MiB");
        assertThat(page(trial(EdgeVariant.PRODUCER, true, 90, 7 * MIB)))
                .contains(aim + "Met by 1 of 1.", "to the whole job: at most 0.1x. Not measured.")
                // Resident memory of a producer; 1,000 lines in 2 s.
                .contains("| producer, MiB | lines for a CPU second of the producers |")
                .contains("| 70.0 [70.0..70.0] | 500 [500..500] |");
        assertThat(page(trial(EdgeVariant.PRODUCER, true, 150, 7 * MIB)))
                .contains(aim + "Met by 0 of 1.");
    }

    /** 1,000 lines need 0.5 s of the agents, and 1 s of the MiniCluster. */
    @Test
    void agentsAreComparedWithAMiniCluster() {
        EdgeTrial small = trial(EdgeVariant.MINI_CLUSTER, true, 200, 10 * MIB);
        assertThat(kind.problems(small)).isEmpty();
        assertThat(page(small))
                .contains("agent, to a Flink MiniCluster: at most 0.1x. Met by 1 of 1.")
                .contains("agents, to a Flink MiniCluster: at least 1.0x. Met by 1 of 1.")
                .contains("| 100 [100..100] | 0.10 [0.10..0.10] | 2,000 [2,000..2,000] | 1,000 [");
        EdgeTrial large = trial(EdgeVariant.MINI_CLUSTER, true, 200, 11 * MIB);
        assertThat(page(large))
                .contains("agent, to a Flink MiniCluster: at most 0.1x. Met by 0 of 1.");
        assertThat(page(trial(EdgeVariant.LIVE, true, 90, MIB)))
                .contains("to a Flink MiniCluster: at most 0.1x. Not measured.");
    }

    /** A line that was recorded before there were producers has none. */
    @Test
    void trialsAreReadAsTheyAreWritten() throws Exception {
        ObjectMapper json = new ObjectMapper();
        for (EdgeVariant variant : EdgeVariant.values()) {
            EdgeTrial trial = trial(variant, true, 90, 7 * MIB);
            ObjectNode line = json.valueToTree(trial);
            assertThat(json.treeToValue(line, EdgeTrial.class)).isEqualTo(trial);
            line.remove(
                    List.of(
                            "producer_peak_bytes",
                            "producer_cpu_ms",
                            "mini_cluster_peak_bytes",
                            "mini_cluster_cpu_ms"));
            EdgeTrial before = json.treeToValue(line, EdgeTrial.class);
            assertThat(before.producers()).isEqualTo(EdgeTrial.Producers.NONE);
            assertThat(before.miniCluster()).isEqualTo(EdgeTrial.MiniCluster.NONE);
        }
    }

    private static String page(EdgeTrial trial) {
        Provenance provenance =
                new Provenance(
                        "edge",
                        "new",
                        Map.of("java", "17"),
                        "./afterbay bench edge",
                        "2026-11-28T10:00:00Z",
                        0.1,
                        2.0,
                        0.05);
        EdgeTrial control = trial(EdgeVariant.GUESSED, false, 0, 0);
        return new EdgePage(
                        List.of(
                                new RecordedTrial<>(provenance, trial),
                                new RecordedTrial<>(provenance, control)))
                .details();
    }
}
