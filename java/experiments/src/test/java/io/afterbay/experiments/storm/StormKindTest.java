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
        "shared,pageload-low,20,0",
        "balanced,slow,5,0",
        "balanced,queue,20,0",
        "replay,replication,20,0",
        "replay-always,slow,20,0",
        "blind-20,replication,20,0",
        "blind-100,replication,20,0"
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

    private static List<String> ofRepeats(String variant, StormTrial.Repeats repeats) {
        StormTrial run = StormTrials.run(StormTrials.setting(variant, "queue", 30, 1), 10, 20, 0);
        return KIND.problems(run.with(run.outcome(), run.latency(), run.shares(), repeats));
    }

    private static StormTrial.Repeats repeats(long sent, double extra, Double closed) {
        return new StormTrial.Repeats(sent, 0L, extra, closed, 30.0, 30.0);
    }

    /** Of 1,000 tuples, 2 % and ten more may be replayed. */
    @ParameterizedTest
    @CsvSource({
        "replay,30,3,0",
        "replay,0,0,40",
        "replay-always,1,0.1,0",
        "blind-20,170,17,",
        "load-aware,0,0,",
    })
    void whatIsSentTwiceAsItShouldBeIsNoProblem(
            String variant, long sent, double extra, Double closed) {
        assertThat(ofRepeats(variant, repeats(sent, extra, closed))).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "replay | 31 | 3.1 | 0 | replays are 3.10 % extra work, and the budget is 3.00 %",
                "replay | 0 | 0 | 0 | are to be sent twice, and none was: is it off?",
                "replay | 0 | 0 | | are to be sent twice, and none was: is it off?",
                "replay-always | 0 | 0 | 40 | are to be sent twice, and none was: is it off?",
                "blind-20 | 0 | 0 | | 20 % of the tuples should be sent twice, and extra work is 0.0 %: is it off?",
                "blind-50 | 1000 | 100 | | 50 % of the tuples should be sent twice, and extra work is 100.0 %",
                "balanced | 1 | 0.1 | | nothing is to be sent twice, and extra work is 0.1 %",
                "shuffle | 0 | -1 | | nothing is to be sent twice, and extra work is -1.0 %",
            })
    void whatIsSentTwiceAndShouldNotBeOrTheOtherWayRoundIsSaid(
            String variant, long sent, double extra, Double closed, String said) {
        assertThat(ofRepeats(variant, repeats(sent, extra, closed)))
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
                        StormTrials.acked(acked, twice, failed),
                        right.latency(),
                        right.shares(),
                        right.repeats());
        assertThat(KIND.problems(wrong))
                .containsExactly(
                        "of 1000 tuples %d were acked, %d acks came again, %d failed"
                                .formatted(acked, twice, failed));
        assertThat(wrong.counts()).isFalse();
        assertThat(right.counts()).isTrue();
    }

    @Test
    void theMeanWaitIsInTheLineOfARun() {
        StormTrial.Setting setting = StormTrials.setting("shared", "queue", 78, 1);
        assertThat(KIND.describe(StormTrials.waited(setting, 1.25, 2)))
                .contains("; mean wait 1.25 ms; ");
        assertThat(KIND.describe(StormTrials.run(setting, 50))).contains("; mean wait - ms; ");
    }

    @Test
    void aRunThatFailedIsSaid() {
        StormTrial failed =
                StormTrial.none(StormTrials.setting("balanced", "slow", 27, 2)).failed("it broke");
        assertThat(KIND.allProblems(List.of(failed)))
                .containsExactly("balanced, pair 2: it failed: it broke");
    }
}
