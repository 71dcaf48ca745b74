package io.afterbay.experiments.storm;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.bench.RecordedTrial;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StormGuideTest {
    private final List<RecordedTrial<StormTrial>> trials = new ArrayList<>();

    private void add(String variant, String cell, int percent, int busyPercent, double p99Ms) {
        StormTrial.Setting setting = StormTrials.setting(variant, cell, percent, busyPercent, 1);
        trials.add(StormTrials.recorded(StormTrials.run(setting, p99Ms)));
    }

    private List<String> rows() {
        return new StormGuide(trials).table().lines().skip(2).toList();
    }

    private List<String> rows(String begin) {
        return rows().stream().filter(row -> row.startsWith("| " + begin)).toList();
    }

    /** Both sides of each condition of the paper are there before anything is measured. */
    @Test
    void whatIsNotMeasuredSaysSo() {
        assertThat(rows()).allMatch(row -> row.contains("| not measured |"));
        List<String> limits = rows("limits");
        assertThat(limits).hasSize(4 * 3);
        assertThat(limits).filteredOn(row -> row.contains("| replay | yes |")).hasSize(1);
        assertThat(limits).filteredOn(row -> row.contains("| replay | no |")).hasSize(3);
        assertThat(limits).filteredOn(row -> row.contains("| shared | yes |")).hasSize(2);
        assertThat(limits).filteredOn(row -> row.contains("| balanced | no |")).hasSize(4);
        for (String cell : List.of("slow,", "overload,")) {
            assertThat(rows(cell)).anyMatch(row -> row.contains("| balanced | yes |"));
        }
        for (String cell :
                List.of("uneven,", "beside,", "beside-cgroup,", "mixed,", "mixed-cgroup,")) {
            assertThat(rows(cell)).singleElement().asString().contains("| balanced | yes |");
        }
        assertThat(rows("queue")).isEmpty();
    }

    @Test
    void whatIsMeasuredIsComparedWithTheBaselinesOfItsRounds() {
        add("shuffle", "slow", 27, 0, 200);
        add("load-aware", "slow", 27, 0, 100);
        add("load-aware-64", "slow", 27, 0, 50);
        add("balanced", "slow", 27, 0, 20);
        assertThat(rows("slow"))
                .anyMatch(
                        row ->
                                row.startsWith(
                                        "| slow, 5 tasks, 27 % load | balanced | yes | 0.10 [0.10..0.10] | 0.20 [0.20..0.20] | 0.40 [0.40..0.40] | 1.00 [1.00..1.00] | one pair, indicative | new |"))
                .hasSize(2);
    }

    /** Other settings than the usual ones, and cells that are not shown in any case. */
    @Test
    void whatElseWasMeasuredIsThereToo() {
        add("load-aware-64", "queue", 78, 0, 50);
        add("shared", "queue", 78, 0, 25);
        add("shared", "queue", 50, 0, 25);
        add("replay", "limits", 30, 60, 25);
        assertThat(rows("queue, 5 tasks, 78 % load"))
                .singleElement()
                .asString()
                .contains("| shared | yes | – | – | 0.50 [0.50..0.50] | – |");
        assertThat(rows("queue, 5 tasks, 50 % load"))
                .singleElement()
                .asString()
                .contains("| shared | no |");
        assertThat(rows("limits, 5 tasks, 30 % load, processors 60 % busy beside"))
                .singleElement()
                .asString()
                .contains("| replay | no |");
    }

    @Test
    void baselinesHaveNoRows() {
        add("load-aware-64", "queue", 78, 0, 50);
        add("jitter", "slow", 27, 0, 50);
        add("replay-always", "limits", 40, 0, 50);
        assertThat(rows()).allMatch(row -> row.contains("| not measured |"));
    }
}
