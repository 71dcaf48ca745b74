package io.afterbay.experiments.replay;

import static io.afterbay.experiments.replay.ReplayTrials.maximum;
import static io.afterbay.experiments.replay.ReplayTrials.recorded;
import static io.afterbay.experiments.replay.ReplayTrials.trial;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.bench.RecordedTrial;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReplayPageTest {
    private static final List<RecordedTrial<ReplayTrial>> TRIALS =
            List.of(
                    recorded(maximum(2000)),
                    recorded(trial("second-job", null, 90.0, null, 4, 400)),
                    recorded(trial("fixed", 800.0, 790.0, 12L, 0, 21)),
                    recorded(trial("fixed", 2000.0, 1990.0, 12L, 0, 30)));

    @Test
    void judgesThrottledReplaysByTheLiveJobBefore() {
        String page = new ReplayPage(TRIALS).details();
        assertThat(page)
                .contains(
                        "- Aim: the live job's P99 is at most 1.1x of its own before. Met by 1 of 2.",
                        "- Aim: the live job's P99.9 is at most 1.5x of its own before. Met by 2 of 2.",
                        "- Aim: no row of the table is wrong. Met by 2 of 2.",
                        "Of the highest rate, which each command finds first (the last: 2,000 profiles a second)")
                .doesNotContain("| `maximum`");
        assertThat(page.lines().filter(line -> line.startsWith("| 50 %")))
                .hasSize(3)
                .first()
                .asString()
                .contains("`fixed 800/s`", "20.0 [20.0..20.0]", "1.05", "one pair", "abc");
    }

    /** The fixed rate of 2,000 is faster, and too much for the live job. */
    @Test
    void judgesAnAdaptiveReplayByTheBestFixedRateThatKeepsTheSame() {
        List<RecordedTrial<ReplayTrial>> all = new ArrayList<>(TRIALS);
        all.add(recorded(trial("adaptive", null, 711.0, 12L, 0, 21)));
        assertThat(new ReplayPage(all).aims())
                .filteredOn(aim -> aim.goal().startsWith("an adaptive replay"))
                .singleElement()
                .satisfies(
                        aim -> {
                            assertThat(aim.values()).hasSize(1);
                            assertThat(aim.toString()).contains("0.9");
                        });
        assertThat(new ReplayPage(TRIALS.subList(0, 2)).aims().get(2).values()).isEmpty();
    }

    @Test
    void aFixedRateThatWasNotKeptOrIsOfOtherCodeIsNoMeasure() {
        List<RecordedTrial<ReplayTrial>> all = new ArrayList<>(TRIALS);
        all.add(recorded(trial("fixed", 1500.0, 1300.0, 12L, 0, 21)));
        all.add(recorded(trial("fixed", 1400.0, 1400.0, 12L, 0, 21), "former"));
        all.add(recorded(trial("adaptive", null, 711.0, 12L, 0, 21)));
        assertThat(new ReplayPage(all).aims())
                .filteredOn(aim -> aim.goal().startsWith("an adaptive replay"))
                .singleElement()
                .satisfies(aim -> assertThat(aim.values().get(0).value()).isEqualTo(0.9));
    }

    /** 6,000 records in the 10 s from the start of its process to its end. */
    @Test
    void allWaysAreAlsoTimedFromStartToEnd() {
        assertThat(new ReplayPage(TRIALS).details().lines())
                .filteredOn(line -> line.startsWith("| 50 %"))
                .hasSize(3)
                .allMatch(line -> line.contains("| 600 [600..600] |"));
    }

    @Test
    void trialsComeBackFromTheirLines(@TempDir Path directory) throws IOException {
        RecordedTrial.append(directory, TRIALS);
        assertThat(ReplayPage.read(directory)).isEqualTo(TRIALS);
    }

    @Test
    void saysThatThereIsNothing() {
        assertThat(new ReplayPage(List.of()).details()).contains("No comparison is recorded");
    }
}
