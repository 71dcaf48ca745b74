package io.afterbay.experiments.storm;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.bench.RecordedTrial;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StormPaperTest {
    private final List<RecordedTrial<StormTrial>> trials = new ArrayList<>();

    private void add(String variant, StormCell cell, double p99Ms) {
        StormPlace place =
                StormPlace.usual(
                        cell, cell.shape().tasks().get(0), cell.load().utilisations().get(0), 0);
        StormTrial.Setting setting =
                new StormTrial.Setting(
                        variant,
                        place.cell(),
                        place.stages(),
                        place.tasks(),
                        place.utilisationPercent(),
                        place.service(),
                        place.slowdown(),
                        0,
                        1);
        trials.add(StormTrials.recorded(StormTrials.run(setting, p99Ms)));
    }

    private List<String> rows(String begin) {
        return new StormPaper(trials)
                .table()
                .lines()
                .skip(2)
                .filter(row -> row.startsWith("| " + begin))
                .toList();
    }

    /**
     * The paper's tables 2, 3 and 5, and section 5.1.2; two of table 3 have a row for a model and
     * one for cgroups.
     */
    @Test
    void eachFigureOfThePaperHasARow() {
        assertThat(rows("table 2")).hasSize(4);
        assertThat(rows("section 5.1.2")).hasSize(1);
        assertThat(rows("table 3, a")).hasSize(1);
        assertThat(rows("table 3, b")).hasSize(2);
        assertThat(rows("table 3, c")).hasSize(2);
        assertThat(rows("table 5")).hasSize(6).allMatch(row -> row.contains("| not measured |"));
    }

    @Test
    void whatIsMeasuredStandsBeside() {
        add("shuffle", StormCell.MIXED, 100);
        add("load-aware", StormCell.MIXED, 50);
        add("balanced", StormCell.MIXED, 25);
        assertThat(rows("table 3, c | mixed,"))
                .singleElement()
                .asString()
                .contains("| balanced | shuffle |")
                .contains("| 0.49 | 0.25 [0.25..0.25] |");
    }

    /** Section 5.1.2: from 2.07 to 0.516 ms. */
    @Test
    void theMeanWaitOfASharedQueueStandsBesideThePapers() {
        assertThat(rows("section 5.1.2"))
                .singleElement()
                .asString()
                .contains("| 0.25 | – | – | – |");
        trials.add(StormTrials.recorded(StormTrials.run(queue("shared"), 20)));
        assertThat(rows("section 5.1.2"))
                .singleElement()
                .asString()
                .contains("| 0.25 | not recorded | – | – |");
        trials.clear();
        for (String variant : List.of("shuffle", "shared")) {
            double waitMs = variant.equals("shared") ? 2 : 5;
            trials.add(StormTrials.recorded(StormTrials.waited(queue(variant), waitMs, 2)));
        }
        assertThat(rows("section 5.1.2"))
                .singleElement()
                .asString()
                .contains("| 0.25 | 0.40 [0.40..0.40] | – | – |");
    }

    private static StormTrial.Setting queue(String variant) {
        return new StormTrial.Setting(variant, "queue", 1, 4, 78, "exponential", 1, 0, 1);
    }

    /** The extra work of replays is one of the paper's figures. */
    @Test
    void replaysAreComparedWithTheLoadAwareShuffle() {
        add("load-aware", StormCell.REPLICATION, 100);
        add("replay", StormCell.REPLICATION, 80);
        add("blind-20", StormCell.REPLICATION, 90);
        assertThat(rows("table 2"))
                .anyMatch(
                        row ->
                                row.contains("| replay | load-aware |")
                                        && row.contains("| 0.83 | 0.80 [0.80..0.80] |")
                                        && row.contains("| 2.92 | 1.50 [1.50..1.50] |"))
                .anyMatch(row -> row.contains("| blind-20 |") && row.contains("| 20 | 2"));
    }
}
