package io.afterbay.experiments.edge;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.bench.Provenance;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.experiments.RustPrograms;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

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
                        new EdgeTrial.Whole(1_000L, 4_000.0, 9_000.0));
    }

    @Test
    void whatIsAsItShouldBeIsNoProblem() {
        assertThat(kind.problems(trial(EdgeVariant.LIVE, true, 200, 30 * MIB))).isEmpty();
        assertThat(kind.problems(trial(EdgeVariant.GUESSED, false, 0, 0))).isEmpty();
    }

    @Test
    void differentRowsManyBytesAndMuchMemoryAreProblems() {
        assertThat(kind.problems(trial(EdgeVariant.LIVE, false, 200, 0)))
                .containsExactly("rows differ: 1 row is missing");
        assertThat(kind.problems(trial(EdgeVariant.LIVE, true, 201, 0)))
                .singleElement()
                .asString()
                .contains("0.201x of the whole job's bytes, and at most 0.2x");
        assertThat(kind.problems(trial(EdgeVariant.LIVE, true, 200, 30 * MIB + 1)))
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
                        EdgeTrial.Whole.NONE);
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
