package io.afterbay.experiments.replay;

import static io.afterbay.experiments.replay.ReplayTrials.maximum;
import static io.afterbay.experiments.replay.ReplayTrials.sendingDuring;
import static io.afterbay.experiments.replay.ReplayTrials.trial;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.command.CommandFailure;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What makes the short form end with 1. */
class ReplayKindTest {
    private static final ReplayKind KIND = new ReplayKind(List.of());

    @Test
    void aReplayThatKeptItsRateAndWonItsConflictsIsFine() {
        assertThat(KIND.problems(trial("fixed", 800.0, 790.0, 12L, 0, 21))).isEmpty();
        assertThat(KIND.problems(trial("unthrottled", null, 9000.0, 12L, 0, 21))).isEmpty();
        assertThat(KIND.problems(trial("unmerged", 800.0, 810.0, null, 40, 21))).isEmpty();
        assertThat(KIND.problems(trial("second-job", null, 90.0, null, 4, 21))).isEmpty();
        assertThat(KIND.problems(trial("none", null, null, null, 0, 21))).isEmpty();
        assertThat(KIND.problems(maximum(9000))).isEmpty();
    }

    @Test
    void wrongRowsAndMissingConflictsAreProblems() {
        assertThat(KIND.problems(trial("fixed", 800.0, 790.0, 12L, 2, 21)))
                .containsExactly("2 rows of the table are wrong");
        assertThat(KIND.problems(trial("fixed", 800.0, 790.0, 0L, 0, 21)))
                .containsExactly("there was no conflict: nothing shows that they are resolved");
        assertThat(KIND.problems(trial("fixed", 800.0, 790.0, null, 2, 21))).hasSize(2);
    }

    @Test
    void aControlThatIsRightIsAProblem() {
        assertThat(KIND.problems(trial("unmerged", 800.0, 810.0, null, 0, 21)))
                .containsExactly("the control's table is right: nothing had to be merged");
    }

    @Test
    void ratesThatWereNotKeptAreProblems() {
        assertThat(KIND.problems(trial("fixed", 800.0, 700.0, 12L, 0, 21)))
                .containsExactly("700 records a second were replayed, and not 800");
        assertThat(KIND.problems(trial("fixed", 800.0, 900.0, 12L, 0, 21))).hasSize(1);
        assertThat(KIND.problems(sendingDuring(trial("fixed", 800.0, 800.0, 12L, 0, 21), 850)))
                .containsExactly("850 profiles a second were sent, and not 1000");
    }

    /** The rate of the live job follows from the highest one that was found last. */
    @Test
    void ratesFollowFromTheSearch() throws Exception {
        ReplayBenchPlan plan = new ReplayBenchPlan("fixed", 70, null, 800.0, 1, true, 10, 20, 1, 1);
        assertThat(KIND.ready(plan, List.of(maximum(5000), maximum(4000))).liveRatePerS())
                .isEqualTo(2800.0);
        assertThatThrownBy(() -> KIND.ready(plan, List.of()))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("--live-rate");
        ReplayBenchPlan given =
                new ReplayBenchPlan("fixed", 0, 300.0, 800.0, 1, true, 10, 20, 1, 1);
        assertThat(KIND.ready(given, List.of()).liveRatePerS()).isEqualTo(300.0);
    }
}
