package io.afterbay.experiments.storm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What of the counts ends the command with 1. */
class StormKindTest {
    private static final StormKind KIND = new StormKind(List.of());

    private static List<String> problems(
            String variant, String cell, double firstPercent, double movedPercent) {
        return KIND.problems(
                StormTrials.run(
                        StormTrials.setting(variant, cell, 27, 1), 10, firstPercent, movedPercent));
    }

    @ParameterizedTest
    @CsvSource({
        "load-aware,slow,20,0",
        "load-aware,overload,12,0",
        "load-aware-64,slow,9,0",
        "shuffle,overload,20,0",
        "algorithm-2,slow,15,0",
        "shared,slow,13,70",
        "shared,queue,20,60",
        "balanced,slow,5,0",
        "balanced,queue,20,0"
    })
    void countsAsTheyShouldBeAreNoProblem(
            String variant, String cell, double firstPercent, double movedPercent) {
        assertThat(problems(variant, cell, firstPercent, movedPercent)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "balanced | slow | 19 | 0 | the slow task has 0.95 of an even share, balanced",
                "balanced | overload | 11 | 0 | the slow task has 0.55 of an even share, balanced",
                "shared | slow | 20 | 0 | other tasks did 0.0 % of the tuples",
                "shared | queue | 20 | 0.9 | other tasks did 0.9 % of the tuples",
                "load-aware | slow | 10 | 0 | has only 0.50 of an even share, unbalanced",
                "shuffle | overload | 10 | 0 | has only 0.50 of an even share, unbalanced",
                "load-aware-64 | queue | 20 | 1 | nothing is shared, and tuples moved",
                "balanced | slow | 5 | 1 | nothing is shared, and tuples moved",
            })
    void aTechniqueThatDoesNothingAndABaselineThatDoesAreSaid(
            String variant, String cell, double firstPercent, double movedPercent, String said) {
        assertThat(problems(variant, cell, firstPercent, movedPercent))
                .singleElement()
                .asString()
                .contains(said);
    }

    @ParameterizedTest
    @CsvSource({"999,0,0", "1000,1,0", "1000,0,1"})
    void aTupleThatIsNotAckedOnceIsSaid(long acked, long twice, long failed) {
        StormTrial right =
                StormTrials.run(StormTrials.setting("balanced", "slow", 27, 1), 10, 5, 0);
        StormTrial wrong =
                right.with(
                        StormTrials.acked(acked, twice, failed), right.latency(), right.shares());
        assertThat(KIND.problems(wrong))
                .containsExactly(
                        "of 1000 tuples %d were acked, %d acks came again, %d failed"
                                .formatted(acked, twice, failed));
        assertThat(wrong.counts()).isFalse();
        assertThat(right.counts()).isTrue();
    }

    @Test
    void aRunThatFailedIsSaid() {
        StormTrial failed =
                StormTrial.none(StormTrials.setting("balanced", "slow", 27, 2)).failed("it broke");
        assertThat(KIND.allProblems(List.of(failed)))
                .containsExactly("balanced, pair 2: it failed: it broke");
    }
}
