package io.afterbay.experiments.storm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.afterbay.bench.RecordedTrial;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StormWaitsTest {
    private final List<RecordedTrial<StormTrial>> trials = new ArrayList<>();

    private void add(StormTrial trial) {
        trials.add(StormTrials.recorded(trial));
    }

    private void add(String variant, String cell, int pair, double waitMs, double serviceMs) {
        add(StormTrials.waited(StormTrials.setting(variant, cell, 78, pair), waitMs, serviceMs));
    }

    private String text() {
        return new StormWaits(trials).text();
    }

    /**
     * 600 tuples/s for five tasks of 5 ms are 60 % load: one task alone waits for 5 * 0.6 / 0.4 ms,
     * and of five on one queue 23.6 % have to wait, for 2.5 ms.
     */
    @Test
    void whatIsMeasuredStandsBesideWhatTheorySays() {
        add("shuffle", "queue", 1, 6, 5);
        add("shared", "queue", 1, 0.75, 5);
        assertThat(text())
                .contains(
                        "| queue, 5 tasks, 78 % load | shuffle | 6.00 [6.00..6.00] | 0.59 [0.59..0.59] | 7.50 [7.50..7.50] | – | 5.00 [5.00..5.00] | 60.0 [60.0..60.0] | 0.50 [0.50..0.50] |",
                        "| queue, 5 tasks, 78 % load | shared | 0.75 [0.75..0.75] | 0.59 [0.59..0.59] | 7.50 [7.50..7.50] | 0.13 [0.13..0.13] | 5.00");
    }

    /** Theory is of the service time of each run, and the table has all of them. */
    @Test
    void runsThatTookLongerHaveAnotherTheory() {
        add("shared", "queue", 1, 0.75, 5);
        add("shared", "queue", 2, 0.8, 6);
        assertThat(text()).contains("| 66.0 [60.0..72.0] |").contains("| 11.5 [7.50..15.4] |");
    }

    @Test
    void withMoreThanTasksCanDoThereIsNoTheory() {
        add("shuffle", "queue", 1, 900, 9);
        assertThat(text())
                .contains("| shuffle | 900 [900..900] | – | – | – | 9.00 [9.00..9.00] | 108 ");
    }

    /** Where tasks are not alike, only the measure is shown. */
    @Test
    void otherCellsHaveNoTheory() {
        add("balanced", "slow", 1, 3, 5);
        assertThat(text())
                .contains(
                        "| slow, 5 tasks, 78 % load | balanced | 3.00 [3.00..3.00] | – | – | – |");
    }

    @ParameterizedTest
    @CsvSource({"queue, 2, exponential", "queue, 1, fixed", "overload, 1, exponential"})
    void theoryIsOfOneBoltWithExponentialTimes(String cell, int stages, String service) {
        StormTrial.Setting setting =
                new StormTrial.Setting("shared", cell, stages, 5, 50, service, 1, 0, 1);
        assertThat(StormQueueModel.of(StormTrials.waited(setting, 1, 5))).isNull();
    }

    /**
     * Of the paper's section 5.1.2, λ 350 and μ 450 for each of four: by hand, 55.7 % have to wait,
     * for 1 / (1800 - 1400) s.
     */
    @Test
    void theoryIsErlangs() {
        StormQueueModel paper = new StormQueueModel(4, 1400, 1000 / 450.0);
        assertThat(paper.load()).isCloseTo(0.778, within(0.001));
        assertThat(Objects.requireNonNull(paper.oneQueueMs())).isCloseTo(1.3925, within(0.001));
        assertThat(Objects.requireNonNull(paper.queueEachMs())).isCloseTo(7.78, within(0.01));
    }

    /** As lines were before waits were in them, beside one of now. */
    @Test
    void linesWithoutWaitsAreReadAndSaidToHaveNone(@TempDir Path directory) throws Exception {
        Files.writeString(
                directory.resolve("storm.jsonl"),
                """
                {"experiment":"storm","revision":"2b78c2422df8","versions":{"java":"17"},"command":"./afterbay bench storm --cells queue","date":"2026-11-28T10:10:24Z","load_before":1.59,"load_after":4.001,"other_cores":0.07,"variant":"shared","cell":"queue","stages":1,"tasks":4,"utilisation_percent":78,"service":"exponential","slowdown":1,"pair":1,"failure":null,"storm":"2.8.3","tuples":21953,"acked":21953,"acked_twice":0,"failed":0,"p50_ms":4.338,"p90_ms":25.67,"p95_ms":48.53,"p99_ms":103,"p999_ms":130.7,"max_ms":158.1,"per_s":1403,"cpu_us_per_tuple":1335,"moved_percent":70,"first_task_percent":25.1,"shift_s":null,"back_s":null,"per_task_per_s":[[351,351,351,351]],"first_task_percent_by_second":[19.4],"slow_from_s":null,"slow_until_s":null}
                """);
        trials.addAll(StormPage.read(directory));
        assertThat(trials).hasSize(1);
        assertThat(trials.get(0).run().waits()).isEqualTo(StormTrial.Waits.NONE);
        assertThat(text())
                .contains(
                        "| queue, 4 tasks, 78 % load | shared | not recorded | – | – | – | – | – | – |");
        RecordedTrial.append(
                directory,
                List.of(
                        StormTrials.recorded(
                                StormTrials.waited(
                                        StormTrials.setting("shared", "queue", 78, 1), 1.25, 2))));
        assertThat(Files.readAllLines(directory.resolve("storm.jsonl")).get(1))
                .contains("\"mean_held_ms\":0.5,\"mean_wait_ms\":1.25,\"mean_service_ms\":2");
    }

    /** Other cells are not in the table if no run of theirs says it. */
    @Test
    void withoutWaitsAndQueuesThereIsNoTable() {
        add(StormTrials.run(StormTrials.setting("balanced", "slow", 27, 1), 20));
        assertThat(text()).isEmpty();
        add("replay", "limits", 1, 3, 5);
        assertThat(text()).contains("| limits, ").doesNotContain("| slow, ");
    }
}
