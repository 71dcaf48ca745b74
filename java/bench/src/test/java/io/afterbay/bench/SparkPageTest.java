package io.afterbay.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SparkPageTest {
    private final List<RecordedTrial<SparkTrial>> trials = new ArrayList<>();

    private void add(SparkTrial trial) {
        trials.add(
                new RecordedTrial<>(
                        new Provenance(
                                "spark",
                                "new",
                                Map.of("java", "17"),
                                "./afterbay bench spark",
                                "2026-11-23T10:00:00Z",
                                0.1,
                                2.0,
                                0.05),
                        trial));
    }

    private static SparkTrial.Setting setting(String variant, int rate, int pair) {
        return new SparkTrial.Setting(variant, "lr4", rate, "slow", 3000, 8, pair);
    }

    private static SparkTrial run(String variant, int pair, double p99Ms, boolean isRight) {
        return SparkTrial.none(setting(variant, 2500, pair))
                .with(
                        "4.2.0",
                        "rows",
                        isRight,
                        new SparkTrial.Times(
                                110, 1000L, p99Ms / 4, p99Ms / 2, p99Ms, p99Ms * 2, p99Ms,
                                p99Ms * 3, p99Ms * 4),
                        new SparkTrial.Parts(
                                p99Ms / 2,
                                p99Ms / 100,
                                10.0,
                                p99Ms / 4,
                                p99Ms / 200,
                                p99Ms / 100,
                                1.0,
                                0.0,
                                2.0,
                                3.0,
                                4.0),
                        new SparkTrial.Cost(120.0, 0.5, 900.0, 30.0));
    }

    private String page() {
        return new SparkPage(trials).details();
    }

    @Test
    void oursIsComparedWithBothBaselinesPairByPair() {
        for (int pair = 1; pair <= 2; pair++) {
            add(run("strict", pair, 500, true));
            add(run("changelog", pair, 600, true));
            add(run("snapshot", pair, 2000 * pair, true));
        }
        assertThat(page())
                .contains(
                        "Spark's snapshot commits to ours: at least 3.0x. Met by 1 of 1.",
                        "Spark's changelog to strict mode: at least 1.1x. Met by 1 of 1.",
                        "Spark's changelog to pipelined mode: at least 1.3x. Not measured.",
                        "ours: at most 5.0 % of its time. Met by 1 of 1.",
                        "| lr4, slow DFS, every 3.0 s, 8 partitions, 2,500/s | strict |",
                        "| 6.00 [4.00..8.00] | 1.20 [1.20..1.20] | right |");
        assertThat(page().indexOf("| snapshot |")).isLessThan(page().indexOf("| changelog |"));
        assertThat(page().indexOf("| changelog |")).isLessThan(page().indexOf("| strict |"));
    }

    /** Negative control: what is not enough is not met. */
    @Test
    void aimsThatAreMissedAreNotMet() {
        add(run("snapshot", 1, 1000, true));
        add(run("changelog", 1, 1000, true));
        add(run("pipelined", 1, 990, true));
        assertThat(page())
                .contains(
                        "Spark's snapshot commits to ours: at least 3.0x. Met by 0 of 1.",
                        "Spark's changelog to pipelined mode: at least 1.3x. Met by 0 of 1.",
                        "Spark's changelog to strict mode: at least 1.1x. Not measured.");
    }

    @Test
    void wrongRowsAreShownAndTheControlMustHaveThem() {
        add(run("changelog", 1, 100, false));
        add(run("control", 1, 100, false));
        assertThat(page()).contains("| **wrong** |", "| wrong, as they should be |");
        add(run("control", 2, 100, true));
        assertThat(page()).contains("| **right**, and should not be |");
    }

    @Test
    void ratesThatAreSustainedHaveATableOfTheirOwn() {
        add(SparkTrial.none(setting("snapshot", 0, 1)).found("4.2.0", 2000));
        add(SparkTrial.none(setting("changelog", 0, 1)).found("4.2.0", 4000));
        add(SparkTrial.none(setting("strict", 0, 1)).found("4.2.0", 5000));
        assertThat(page())
                .contains(
                        "ours to Spark's snapshot commits: at least 2.0x. Met by 1 of 1.",
                        "| 5,000 [5,000..5,000] | 2.50 [2.50..2.50] | 1.25 [1.25..1.25] | 1 |")
                .doesNotContain("At a rate (open loop)");
    }

    @Test
    void failedRunsAreSaidAndHaveNoFigures() {
        add(run("changelog", 1, 600, true));
        add(SparkTrial.none(setting("strict", 2500, 1)).failed("it broke"));
        assertThat(page()).contains("Failed runs:", "strict: it broke");
    }

    @Test
    void linesAreReadAsTheyWereWritten(@TempDir Path directory) throws Exception {
        add(run("strict", 1, 500, true));
        add(SparkTrial.none(setting("strict", 0, 1)).found("4.2.0", 5000));
        add(SparkTrial.none(setting("strict", 2500, 2)).failed("it broke"));
        RecordedTrial.append(directory, trials);
        assertThat(SparkPage.read(directory)).isEqualTo(trials);
        assertThat(new SparkPage(List.of()).details()).isEqualTo(ResultsPage.NONE);
    }

    @Test
    void theOverheadIsOfTheWholeBatch() {
        assertThat(run("strict", 1, 400, true).parts().overheadPercent()).isEqualTo(5);
        assertThat(SparkTrial.Parts.NONE.overheadPercent()).isNull();
    }
}
