package io.afterbay.experiments.blobcluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.bench.Provenance;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.bench.ResultsPage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClusterPageTest {
    private final List<RecordedTrial<ClusterTrial>> trials = new ArrayList<>();

    private void add(ClusterTrial trial) {
        trials.add(
                new RecordedTrial<>(
                        new Provenance(
                                "blob-cluster",
                                "new",
                                Map.of("java", "17"),
                                "./afterbay bench blob-cluster",
                                "2026-11-29T10:00:00Z",
                                0.1,
                                2.0,
                                0.05),
                        trial));
    }

    private static ClusterTrial kill(
            String variant, int pair, long errors, long lost, double awayMs, double wholeMs) {
        ClusterTrial.Setting setting =
                new ClusterTrial.Setting(variant, "kill", 25_600, 16, 200, 10_000, pair);
        return ClusterTrial.none(setting)
                .with(
                        new ClusterTrial.Outcome(null, errors, 2000L, 0L, lost),
                        new ClusterTrial.Kill(
                                2000L, 2000L, 2000L, 1.0, 2.0, awayMs, 40.0, 3.0, 30.0, wholeMs,
                                true, 0L, 0L, lost));
    }

    private static ClusterTrial put(int pair, double perS, long wrong) {
        ClusterTrial.Setting setting =
                new ClusterTrial.Setting("afterbay", "put", 1 << 20, 4, 0, 0, pair);
        return ClusterTrial.none(setting)
                .with(
                        new ClusterTrial.Outcome(null, 0L, 100L, wrong, 0L),
                        new ClusterTrial.Rates(1000L, 1.0, perS, perS, 1.0, 2.0, 3.0, 4.0, 5.0),
                        new ClusterTrial.Cost(500.0, 0.5, 0.2, 90.0, 3e6));
    }

    private String page() {
        return new ClusterPage(trials).details();
    }

    @Test
    void nothingIsMeasuredYet() {
        assertThat(page()).isEqualTo(ResultsPage.NONE);
    }

    @Test
    void aimsAreMet() {
        add(put(1, 300, 0));
        add(kill("afterbay", 1, 0, 0, 5.9, 11_000));
        add(kill("control", 1, 90, 30, 5_000, 11_000));
        assertThat(page())
                .contains(
                        "requests that failed: at most 0.0. Met by 1 of 1.",
                        "P99 to that of before: at most 3.0x. Met by 1 of 1.",
                        "after its start: at most 60.0 s. Met by 1 of 1.",
                        "| put, 1 MiB, 4 clients | afterbay | 300 [300..300] |",
                        "| kill, 25.0 KiB, 16 clients, 200/s, phases of 10 s | afterbay | 0 [0..0] |",
                        "| right |",
                        "| lost, as they should be |");
    }

    /** One run in which a request fails is too many, whatever the median is. */
    @Test
    void aimsThatAreMissedAreNotMet() {
        add(kill("afterbay", 1, 0, 0, 6.1, 61_000));
        add(kill("afterbay", 2, 1, 0, 6.1, 61_000));
        add(kill("afterbay", 3, 0, 0, 6.1, 61_000));
        assertThat(page())
                .contains(
                        "requests that failed: at most 0.0. Met by 0 of 1.",
                        "P99 to that of before: at most 3.0x. Met by 0 of 1.",
                        "after its start: at most 60.0 s. Met by 0 of 1.");
    }

    @Test
    void whatIsLostMeetsNoAimAndTheControlMustLose() {
        add(kill("afterbay", 1, 0, 1, 3, 11_000));
        add(kill("control", 1, 90, 0, 5_000, 11_000));
        add(put(1, 300, 1));
        assertThat(page())
                .contains(
                        "requests that failed: at most 0.0. Not measured.",
                        "| **wrong** |",
                        "| **not lost**, and should be |");
    }

    @Test
    void linesAreReadAsTheyWereWritten(@TempDir Path directory) throws Exception {
        add(put(1, 300, 0));
        add(kill("afterbay", 1, 0, 0, 5.9, 11_000));
        add(put(2, 300, 0).failed("it broke"));
        RecordedTrial.append(directory, trials);
        assertThat(ClusterPage.read(directory)).isEqualTo(trials);
        assertThat(page()).contains("Failed runs:", "afterbay: it broke");
    }
}
