package io.afterbay.cli.replay.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which rate the live job bears, found out by a rule that sees only what it needs. */
class AdaptiveRateTest {
    private static final double CAPACITY = 100_000;
    private static final double MINIMUM = 10;
    private static final int SEEDS = 50;

    /** What a rule did. */
    private static final class Course {
        private final SimulatedLiveJob live;
        private final LiveBudget budget;
        private final AdaptiveRate rule;
        private final List<Double> rates = new ArrayList<>();
        private int over;

        Course(SimulatedLiveJob live) {
            this.live = live;
            List<LiveSample> before = new ArrayList<>();
            for (int sample = 0; sample < 10; sample++) {
                before.add(live.next(0));
            }
            budget = LiveBudget.of(before);
            rule = new AdaptiveRate(budget, 1_000, MINIMUM, SimulatedLiveJob.memory());
        }

        /** Runs for so many samples, and forgets what was before. */
        Course run(int samples) {
            rates.clear();
            over = 0;
            for (int sample = 0; sample < samples; sample++) {
                double rate = rule.rate();
                rates.add(rate);
                over += live.p99Ms(rate) > budget.p99Ms() ? 1 : 0;
                rule.next(live.next(rate), rate);
            }
            return this;
        }

        double mean() {
            return rates.stream().mapToDouble(Double::doubleValue).average().orElseThrow();
        }

        double share() {
            return mean() / live.bearable(budget.p99Ms());
        }
    }

    @ParameterizedTest
    @CsvSource({"50000,0", "50000,0.03", "70000,0.03", "20000,0.03"})
    void findsWhatTheLiveJobBears(double load, double noise) {
        for (int seed = 0; seed < SEEDS; seed++) {
            Course course = new Course(new SimulatedLiveJob(CAPACITY, load, noise, seed));
            course.run(200).run(2_000);
            assertThat(course.share()).as("seed %d", seed).isBetween(0.8, 1.0);
            assertThat(course.over).as("seed %d", seed).isLessThan(2_000 / 8);
        }
    }

    @Test
    void givesWayToALiveJobThatNeedsMoreAndTakesBackWhatItDoesNotNeed() {
        for (int seed = 0; seed < SEEDS; seed++) {
            SimulatedLiveJob live = new SimulatedLiveJob(CAPACITY, 40_000, 0.03, seed);
            Course course = new Course(live).run(1_000);
            double bearableBefore = live.bearable(course.budget.p99Ms());
            live.load(60_000);
            assertThat(live.bearable(course.budget.p99Ms())).isLessThan(0.5 * bearableBefore);
            double bearable = live.bearable(course.budget.p99Ms());
            assertThat(course.run(60).rates).as("seed %d", seed).anyMatch(rate -> rate < bearable);
            assertThat(course.run(1_000).share()).as("seed %d", seed).isBetween(0.75, 1.05);
            live.load(40_000);
            course.run(300);
            assertThat(course.run(1_000).share()).as("seed %d", seed).isBetween(0.75, 1.05);
        }
    }

    private static LiveSample p99(double ms) {
        return new LiveSample(ms, null, null, 1_000.0);
    }

    private static AdaptiveRate rule(double start) {
        return new AdaptiveRate(LiveBudget.of(List.of(p99(100))), start, MINIMUM, 4);
    }

    /** The last decision of three samples that are alike. */
    private static Optional<AdaptiveRate.Decision> three(
            AdaptiveRate rule, LiveSample sample, double used) {
        assertThat(rule.next(sample, used)).isEmpty();
        assertThat(rule.next(sample, used)).isEmpty();
        return rule.next(sample, used);
    }

    @Test
    void doublesUntilItIsTooMuchAndHalvesThen() {
        AdaptiveRate rule = rule(1_000);
        assertThat(three(rule, p99(110), 1_000).orElseThrow().rate()).isEqualTo(2_000);
        AdaptiveRate.Decision halved = three(rule, p99(111), 2_000).orElseThrow();
        assertThat(halved.rate()).isEqualTo(1_000);
        assertThat(halved.reason()).isEqualTo("halved: P99 of the live job is 111 ms of 110");
        assertThat(three(rule, p99(100), 1_000).orElseThrow().rate())
                .isEqualTo(1_000 + 0.75 * (0.95 * 2_000 - 1_000));
    }

    @Test
    void staysBelowWhatWasTooMuchForAWhileAndTriesMoreThenInGrowingSteps() {
        AdaptiveRate rule = rule(1_000);
        three(rule, p99(150), 1_000);
        double before = 0;
        while (rule.rate() != before) {
            before = rule.rate();
            three(rule, p99(100), before);
        }
        assertThat(before).isEqualTo(950);
        List<Double> next = new ArrayList<>();
        for (int decision = 0; decision < 10; decision++) {
            three(rule, p99(100), rule.rate());
            next.add(rule.rate());
        }
        assertThat(next.subList(0, 7)).containsOnly(950.0);
        assertThat(next.subList(7, 10)).containsExactly(969.0, 1007.0, 1083.0);
    }

    @Test
    void aSingleSampleThatIsOffDoesNotCountAndOneThatIsFarOffCountsAtOnce() {
        AdaptiveRate rule = rule(1_000);
        rule.next(p99(100), 1_000);
        rule.next(p99(100), 1_000);
        assertThat(rule.next(p99(180), 1_000).orElseThrow().rate()).isEqualTo(2_000);
        assertThat(rule.next(p99(221), 2_000).orElseThrow().rate()).isEqualTo(1_000);
    }

    /** Percentiles are made of what was measured for some time, and lag goes away slowly. */
    @Test
    void whatIsOfTheTimeBeforeAHalvingHalvesOnce() {
        AdaptiveRate rule = rule(1_000);
        assertThat(three(rule, p99(150), 1_000).orElseThrow().rate()).isEqualTo(500);
        AdaptiveRate.Decision kept = three(rule, p99(150), 500).orElseThrow();
        assertThat(kept.rate()).isEqualTo(500);
        assertThat(kept.reason()).startsWith("kept: ");
        assertThat(three(rule, p99(140), 500).orElseThrow().rate()).isEqualTo(500);
        assertThat(three(rule, p99(140), 500).orElseThrow().rate()).isEqualTo(250);
    }

    @Test
    void aLagThatGrowsCountsAsWell() {
        LiveSample own = new LiveSample(null, 50.0, null, 1_000.0);
        AdaptiveRate rule = new AdaptiveRate(LiveBudget.of(List.of(own)), 1_000, MINIMUM, 4);
        LiveSample aTenthOfASecondMore = new LiveSample(null, 150.0, null, 1_000.0);
        assertThat(three(rule, aTenthOfASecondMore, 1_000).orElseThrow().rate()).isEqualTo(2_000);
        LiveSample more = new LiveSample(null, 151.0, null, 1_000.0);
        AdaptiveRate.Decision halved = three(rule, more, 2_000).orElseThrow();
        assertThat(halved.rate()).isEqualTo(1_000);
        assertThat(halved.reason()).contains("lag of the live job is 151 records of 150");
    }

    @Test
    void aRateThatTheReplayDoesNotUseIsNotRaisedAndWhatItUsesIsHalved() {
        AdaptiveRate rule = rule(8_000);
        AdaptiveRate.Decision kept = three(rule, p99(100), 1_000).orElseThrow();
        assertThat(kept.rate()).isEqualTo(8_000);
        assertThat(kept.reason()).isEqualTo("kept: the replay itself has 1,000 records/s");
        assertThat(three(rule, p99(120), 1_000).orElseThrow().rate()).isEqualTo(500);
    }

    @Test
    void whoKnowsNothingOfTheLiveJobGivesWayDownToTheMinimum() {
        AdaptiveRate rule = rule(35);
        assertThat(rule.next(null, 35)).isEmpty();
        assertThat(rule.next(null, 35)).isEmpty();
        assertThat(rule.next(null, 35).orElseThrow().rate()).isEqualTo(17.5);
        for (int sample = 0; sample < 30; sample++) {
            rule.next(null, 10);
            rule.next(p99(1_000), 10);
        }
        assertThat(rule.rate()).isEqualTo(MINIMUM);
    }

    @Test
    void whatWasNotKnownBeforePlaysNoPart() {
        LiveBudget budget = LiveBudget.of(List.of(p99(100)));
        assertThat(budget.left(new LiveSample(100.0, 1e9, 1e9, null))).isEmpty();
        assertThat(LiveBudget.of(List.of(p99(3))).p99Ms()).isEqualTo(4);
        assertThat(LiveBudget.of(List.of(p99(3), p99(50), p99(40))).p99Ms()).isEqualTo(1.1 * 50);
    }
}
