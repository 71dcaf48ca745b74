package io.afterbay.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DesyncPageTest {
    private final List<RecordedTrial<DesyncTrial>> trials = new ArrayList<>();

    private static DesyncTrial.Setting setting(String cure, int load, int pair) {
        return new DesyncTrial.Setting("rocksdb-heap-timers", cure, 16, 8000, 6000, 2, load, pair);
    }

    private void add(DesyncTrial trial) {
        trials.add(
                new RecordedTrial<>(
                        new Provenance(
                                "desync",
                                "new",
                                Map.of("flink", "2.3.0"),
                                "./afterbay bench desync",
                                "2026-11-23T10:00:00Z",
                                0.1,
                                2.0,
                                0.05),
                        trial));
    }

    private void open(String cure, int pair, double p999Ms, double alignment) {
        add(
                DesyncTrial.none(setting(cure, 75, pair))
                        .with(
                                "rows",
                                new DesyncTrial.Latency(
                                        7500.0, 10.0, p999Ms / 4, p999Ms / 2, p999Ms, p999Ms, 1.5),
                                new DesyncTrial.Overlap(
                                        "ALIGNED", alignment, 33, 600, 132, 32, 3, 0.5, 0)));
    }

    @Test
    void comparesEachCureWithTheDefault() {
        add(DesyncTrial.none(setting("default", 0, 1)).with("rows", 10_000));
        open("default", 1, 1000, 0.9);
        open("spread", 1, 200, 0.1);
        open("default", 2, 2000, 0.9);
        open("spread", 2, 300, 0.1);
        open("rate-limit", 1, 3000, 0.9);
        assertThat(new DesyncPage(trials).details())
                .contains(
                        "- Aim: P99.9 is at most 0.2x of the default's where that is five times its median or more. Met by 1 of 1.",
                        "- Aim: P99 is at most 1.05x of the default's. Met by 1 of 1.",
                        "| 16 | 8.0 s | 2 | 10,000 [10,000..10,000] |",
                        "| 16 | 8.0 s | 2 | default | 10.0 [10.0..10.0] |",
                        "| 0.18 [0.15..0.20] | 0.18 [0.15..0.20] | 1.50 [1.50..1.50] | 2 |",
                        "| 16 | 8.0 s | 2 | spread | 132 [132..132] | 0.10 [0.10..0.10] | 32.0 [32.0..32.0] |");
    }

    @Test
    void whereTheDefaultHasNoTailThereIsNothingToCure() {
        open("default", 1, 40, 0.9);
        open("gate", 1, 44, 0.9);
        assertThat(new DesyncPage(trials).details())
                .contains("where that is five times its median or more. Not measured.")
                .contains("- Aim: P99 is at most 1.05x of the default's. Met by 0 of 1.");
    }

    @Test
    void figuresComeBackFromTheFile(@TempDir Path directory) throws IOException {
        add(DesyncTrial.none(setting("default", 0, 1)).with("rows", 10_000));
        open("default", 1, 1000, 0.9);
        add(DesyncTrial.none(setting("gate", 75, 1)).failed("no room"));
        RecordedTrial.append(directory, trials);
        assertThat(DesyncPage.read(directory)).isEqualTo(trials);
        assertThat(new DesyncPage(List.of()).details()).contains("No comparison is recorded");
    }
}
