package io.afterbay.experiments.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.bench.Provenance;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.bench.ResultsPage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
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
        return run(setting(variant, 2500, pair), p99Ms, isRight);
    }

    /** P90 is half of it. */
    private static SparkTrial run(SparkTrial.Setting setting, double p99Ms, boolean isRight) {
        return SparkTrial.none(setting)
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
                        new SparkTrial.Snapshots(snapshots(setting)),
                        new SparkTrial.Cost(120.0, 0.5, 900.0, 30.0));
    }

    /** In turns each batch has one; else each tenth batch those of all 8 partitions. */
    private static TreeMap<Integer, Integer> snapshots(SparkTrial.Setting setting) {
        return new TreeMap<>(
                setting.variant().endsWith("staggered")
                        ? Map.of(0, 22, 1, 88)
                        : Map.of(0, 99, 8, 11));
    }

    private String page() {
        return new SparkPage(trials).details();
    }

    @Test
    void oursIsComparedWithBothBaselinesPairByPair() {
        for (int pair = 1; pair <= 2; pair++) {
            add(run("strict", pair, 2000, true));
            add(run("changelog", pair, 2400, true));
            add(run("snapshot", pair, 8000 * pair, true));
        }
        assertThat(page())
                .contains(
                        "those fall behind: at least 3.0x. Met by 1 of 1.",
                        "to ours, the best at any rate: above 5x. Met by 1 of 1.",
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
        add(run("snapshot", 1, 7000, true));
        add(run("changelog", 1, 7000, true));
        add(run("pipelined", 1, 6900, true));
        assertThat(page())
                .contains(
                        "those fall behind: at least 3.0x. Met by 0 of 1.",
                        "to ours, the best at any rate: above 5x. Met by 0 of 1.",
                        "Spark's changelog to pipelined mode: at least 1.3x. Met by 0 of 1.",
                        "Spark's changelog to strict mode: at least 1.1x. Not measured.");
    }

    /** Above 3 s, which is the trigger, snapshots fall behind; the lowest of these rates counts. */
    @Test
    void snapshotsAreTheBaselineWhereTheyBeginToFallBehind() {
        int[] rates = {1000, 2500, 5000};
        double[] ofSnapshots = {5900, 6100, 60_000};
        double[] ofOurs = {1000, 3000, 10_000};
        for (int i = 0; i < rates.length; i++) {
            add(run(setting("snapshot", rates[i], 1), ofSnapshots[i], true));
            add(run(setting("strict", rates[i], 1), ofOurs[i], true));
        }
        assertThat(page())
                .contains(
                        "those fall behind: at least 3.0x. Met by 0 of 1.",
                        "to ours, the best at any rate: above 5x. Met by 1 of 1.");
    }

    /** Nobody can say where they begin to, if they never do. */
    @Test
    void withoutARateAtWhichSnapshotsFallBehindThatAimIsNotMeasured() {
        add(run("snapshot", 1, 5900, true));
        add(run("strict", 1, 1000, true));
        assertThat(page())
                .contains(
                        "those fall behind: at least 3.0x. Not measured.",
                        "to ours, the best at any rate: above 5x. Met by 1 of 1.");
    }

    @Test
    void wrongRowsMeetNoAim() {
        add(run("snapshot", 1, 5900, true));
        add(run("strict", 1, 1000, false));
        assertThat(page())
                .contains("| **wrong** |", "the best at any rate: above 5x. Not measured.");
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
                        "| 5,000 [5,000..5,000] | 2.50 [2.50..2.50] | 1.25 [1.25..1.25] | one pair, indicative | new |")
                .doesNotContain("At a rate (open loop)");
    }

    @Test
    void snapshotsOfBatchesAreCountedWithAndWithoutTurns() {
        add(run("strict", 1, 400, true));
        add(run("strict", 2, 400, true));
        add(run("strict-staggered", 1, 400, true));
        String place = "| lr4, slow DFS, every 3.0 s, 8 partitions, 2,500/s | ";
        assertThat(page())
                .contains(
                        place
                                + "strict | 8.00 [8.00..8.00] | 0.80 [0.80..0.80] | 10.0 [10.0..10.0] %"
                                + " | 0: 198, 8: 22 | 2 pairs | new |",
                        place
                                + "strict-staggered | 1.00 [1.00..1.00] | 0.80 [0.80..0.80]"
                                + " | 80.0 [80.0..80.0] % | 0: 22, 1: 88 | one pair, indicative | new |");
    }

    @Test
    void linesFromBeforeSnapshotsWereCountedHaveNoTableOfThem() {
        SparkTrial run = run("strict", 1, 400, true);
        add(
                new SparkTrial(
                        run.setting(),
                        run.outcome(),
                        run.times(),
                        run.parts(),
                        SparkTrial.Snapshots.NONE,
                        run.cost()));
        assertThat(page()).contains("At a rate (open loop)").doesNotContain("Snapshots that");
        assertThat(SparkTrial.Snapshots.NONE.mean()).isNull();
        assertThat(SparkTrial.Snapshots.NONE.percentWithAny()).isNull();
    }

    @Test
    void theSummaryHasAllOfOursAndSaysWhatIsNotMeasured() {
        add(run("snapshot", 1, 4000, true));
        add(run("changelog", 1, 2000, true));
        add(run("pipelined-staggered", 1, 1000, true));
        add(run("control", 1, 1000, false));
        String place = "| lr4, slow DFS, every 3.0 s, 8 partitions, 2,500/s | ";
        assertThat(new SparkPage(trials).summary())
                .contains(
                        place + "strict | not measured | – | – | – | – | 0 pairs | – |",
                        place
                                + "pipelined-staggered | 1,000 [1,000..1,000] | 4.00 [4.00..4.00]"
                                + " | 2.00 [2.00..2.00] | 5.00 [5.00..5.00] % | right | one pair, indicative | new |")
                .doesNotContain("control");
        assertThat(new SparkPage(List.of()).summary()).isEqualTo(ResultsPage.NONE);
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
