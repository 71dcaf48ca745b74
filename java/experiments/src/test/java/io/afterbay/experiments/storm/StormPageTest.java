package io.afterbay.experiments.storm;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.bench.RecordedTrial;
import io.afterbay.bench.ResultsPage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StormPageTest {
    private final List<RecordedTrial<StormTrial>> trials = new ArrayList<>();

    private void add(StormTrial trial) {
        trials.add(StormTrials.recorded(trial));
    }

    private void add(String variant, String cell, int percent, int pair, double p99Ms) {
        add(StormTrials.run(StormTrials.setting(variant, cell, percent, pair), p99Ms));
    }

    private String page() {
        return new StormPage(trials).details();
    }

    @Test
    void oursIsComparedWithTheBaselinesPairByPair() {
        for (int pair = 1; pair <= 2; pair++) {
            add("load-aware-64", "slow", 27, pair, 100 * pair);
            add("jitter", "slow", 27, pair, 40);
            add("balanced", "slow", 27, pair, 20);
            add("load-aware-64", "queue", 78, pair, 50);
            add("shared", "queue", 78, pair, 25);
        }
        assertThat(page())
                .contains(
                        "P99 of the latency on Storm at 75 % load and more, shared queue to the load-aware shuffle with queues of 64: at most 0.5x. Met by 1 of 1.",
                        "P99.9 of the latency on Storm at 75 % load and more, shared queue to the load-aware shuffle with queues of 64: at most 0.5x. Met by 1 of 1.",
                        "balanced to the load-aware shuffle with queues of 64: at most 0.3x. Met by 1 of 1.",
                        "balanced to each other baseline: at most 1.0x. Met by 1 of 1; nothing to compare with in 1 more: slow, 5 tasks, 27 % load (no run of shuffle, load-aware, algorithm-2).",
                        "are lost, balanced: at most 10 s. Met by 1 of 1.",
                        "after its recovery, balanced: at most 30 s. Met by 1 of 1.",
                        "queues of 64: at least 0.98x. Not measured.",
                        "| slow, 5 tasks, 27 % load | balanced |",
                        "| 0.15 [0.10..0.20] |",
                        "| queue, 5 tasks, 78 % load | shared |",
                        "| 2 pairs | new |");
        assertThat(page().indexOf("| load-aware-64 |")).isLessThan(page().indexOf("| shared |"));
    }

    /** Negative control: what is not enough is not met. */
    @Test
    void aimsThatAreMissedAreNotMet() {
        add("load-aware-64", "slow", 27, 1, 100);
        add("jitter", "slow", 27, 1, 30);
        add("algorithm-2", "slow", 27, 1, 90);
        StormTrial.Setting balanced = StormTrials.setting("balanced", "slow", 27, 1);
        StormTrial slow = StormTrials.run(balanced, 31);
        add(
                slow.with(
                        slow.outcome(),
                        slow.latency(),
                        StormTrials.shares(balanced, 5, 0, 11.0, null),
                        slow.repeats()));
        assertThat(page())
                .contains(
                        "balanced to the load-aware shuffle with queues of 64: at most 0.3x. Met by 0 of 1.",
                        "balanced to each other baseline: at most 1.0x. Met by 1 of 2; nothing to compare with in 1 more: slow, 5 tasks, 27 % load (no run of shuffle, load-aware).",
                        "are lost, balanced: at most 10 s. Met by 0 of 1.",
                        "after its recovery, balanced: at most 30 s. Met by 0 of 1.",
                        "shared queue to the load-aware shuffle with queues of 64: at most 0.5x. Not measured.");
    }

    /**
     * Each baseline of the same rounds counts, with and without Storm's locality, and it is said of
     * the others that they are missing.
     */
    @Test
    void workersThatAreNotAlikeAreComparedWithEachBaseline() {
        add("shuffle", "mixed", 27, 1, 50);
        add("load-aware", "mixed", 27, 1, 60);
        add("load-aware-anywhere", "mixed", 27, 1, 29);
        add("load-aware-64-anywhere", "mixed", 27, 1, 40);
        add("balanced", "mixed", 27, 1, 30);
        add("load-aware-64", "uneven", 40, 1, 29);
        add("balanced", "uneven", 40, 1, 30);
        add("balanced", "queue", 78, 1, 30);
        add("shuffle", "queue", 78, 1, 20);
        assertThat(page())
                .contains(
                        "workers that are not alike, balanced to each baseline: at most 1.0x. Met by 3 of 5; nothing to compare with in 2 more: mixed, 5 tasks, 27 % load (no run of load-aware-64, algorithm-2, jitter), uneven, 5 tasks, 40 % load (no run of shuffle, load-aware, algorithm-2, jitter, load-aware-anywhere, load-aware-64-anywhere).");
    }

    /** The aims are for queues. */
    @Test
    void sharingIsMeasuredAtHighLoadOnly() {
        add("load-aware-64", "queue", 70, 1, 50);
        add("shared", "queue", 70, 1, 50);
        assertThat(page())
                .contains(
                        "with queues of 64: at most 0.5x. Not measured.", "| 1.00 [1.00..1.00] |");
    }

    /** It is said once of a baseline that is missing beside two techniques. */
    @Test
    void throughputIsComparedWithOneBaseline() {
        add("shared", "queue", 95, 1, 50);
        add("balanced", "queue", 95, 1, 50);
        assertThat(page())
                .contains(
                        "at least 0.98x. Not measured; nothing to compare with in 1 more: queue, 5 tasks, 95 % load (no run of load-aware-64).");
    }

    /** Below, a variant that does all later still does as much in a second as comes. */
    @Test
    void throughputIsMeasuredAtTheLimitOnly() {
        add("load-aware-64", "queue", 90, 1, 50);
        add("shared", "queue", 90, 1, 50);
        assertThat(page()).contains("at least 0.98x. Not measured.");
        add("load-aware-64", "queue", 95, 1, 50);
        add("shared", "queue", 95, 1, 50);
        assertThat(page()).contains("at least 0.98x. Met by 1 of 1.");
    }

    @Test
    void runsThatAreWrongMeetNoAim() {
        add("load-aware-64", "slow", 27, 1, 100);
        StormTrial right = StormTrials.run(StormTrials.setting("balanced", "slow", 27, 1), 1);
        add(
                right.with(
                        StormTrials.acked(1000, 1, 0),
                        right.latency(),
                        right.shares(),
                        right.repeats()));
        assertThat(page()).contains("| **wrong** |", "at most 0.3x. Not measured.");
    }

    @Test
    void theShareIsShownBySecond() {
        add("balanced", "slow", 27, 1, 20);
        assertThat(page())
                .contains(
                        "| slow for 1 s |",
                        "| slow, 5 tasks, 27 % load | balanced | 20.0 | 15.0 | 5.00 | 4.00 | – | – | – | – | 18.0 | 20.0 |");
    }

    @Test
    void replaysAreComparedWithStormAsItIs() {
        add("load-aware", "limits", 40, 1, 100);
        add("replay", "limits", 40, 1, 90);
        add("blind-100", "limits", 40, 1, 70);
        add(StormTrials.run(StormTrials.setting("load-aware", "limits", 70, 0, 1), 100));
        add(StormTrials.run(StormTrials.setting("replay", "limits", 70, 0, 1), 110));
        add(StormTrials.run(StormTrials.setting("load-aware", "limits", 40, 50, 1), 100));
        add(StormTrials.run(StormTrials.setting("replay", "limits", 40, 50, 1), 104));
        assertThat(page())
                .contains(
                        "replays to the load-aware shuffle: at most 1.05x. Met by 2 of 3.",
                        "queues below 58 % and nothing beside: at most 1.0x. Met by 1 of 1.",
                        "| limits, 5 tasks, 40 % load | replay | 15.0 [15.0..15.0] | 9.00 [9.00..9.00] | 1.50 [1.50..1.50] | 0.90 [0.90..0.90] |",
                        "| limits, 5 tasks, 40 % load, processors 50 % busy beside | replay |",
                        "| limits, 5 tasks, 40 % load | blind-100 | 1,000 [1,000..1,000] | 500 [500..500] | 100 [100..100] | 0.70 [0.70..0.70] |");
    }

    @Test
    void aBudgetThatWasClosedIsShown() {
        StormTrial open = StormTrials.run(StormTrials.setting("replay", "limits", 70, 1), 100);
        add(
                open.with(
                        open.outcome(),
                        open.latency(),
                        open.shares(),
                        new StormTrial.Repeats(0L, 0L, 0.0, 100.0, 71.0, 30.0)));
        assertThat(page())
                .contains(
                        "| limits, 5 tasks, 70 % load | replay | 0 [0..0] | 0 [0..0] | 0 [0..0] | – | – | 100 [100..100] | 71.0 [71.0..71.0] | 30.0 [30.0..30.0] |");
    }

    @Test
    void whereNothingIsReplayedReplaysAreNotTheReason() {
        add("load-aware", "limits", 40, 1, 100);
        add("replay", "limits", 40, 1, 90);
        add("load-aware", "limits", 30, 1, 100);
        StormTrial none = StormTrials.run(StormTrials.setting("replay", "limits", 30, 1), 50);
        StormTrial.Repeats closed = new StormTrial.Repeats(0L, 0L, 0.0, 100.0, 30.0, 88.0);
        add(none.with(none.outcome(), none.latency(), none.shares(), closed));
        assertThat(page())
                .contains(
                        "replays to the load-aware shuffle: at most 1.05x. Met by 2 of 2.",
                        "nothing beside: at most 1.0x. Met by 1 of 1; nothing to compare with in 1"
                                + " more: limits, 5 tasks, 30 % load (nothing was replayed).");
    }

    @Test
    void withoutTuplesThatWereSentTwiceThereIsNoTableOfThem() {
        add("load-aware", "limits", 40, 1, 100);
        assertThat(page()).doesNotContain("extra work, %");
    }

    @Test
    void withoutASlowTaskThereIsNoTableOfShares() {
        add("shared", "queue", 78, 1, 20);
        assertThat(page()).doesNotContain("slow for 1 s");
    }

    @Test
    void linesAreReadAsTheyWereWritten(@TempDir Path directory) throws Exception {
        add("balanced", "slow", 27, 1, 20);
        add("shared", "queue", 78, 1, 20);
        add(StormTrials.waited(StormTrials.setting("shared", "queue", 78, 1), 1.25, 2.5));
        add(StormTrial.none(StormTrials.setting("balanced", "slow", 27, 2)).failed("it broke"));
        RecordedTrial.append(directory, trials);
        assertThat(StormPage.read(directory)).isEqualTo(trials);
        assertThat(new StormPage(List.of()).details()).isEqualTo(ResultsPage.NONE);
        assertThat(page()).contains("Failed runs:", "balanced: it broke");
    }
}
