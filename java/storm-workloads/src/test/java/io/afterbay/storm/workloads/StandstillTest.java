package io.afterbay.storm.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.storm.StragglerSettings;
import io.afterbay.storm.workloads.StallingTopology.Seen;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * A balanced bolt in two workers on real Storm in this process, one of whose tasks stands still
 * until nearly all numbers have passed the others. No time is asserted.
 */
class StandstillTest extends EmbeddedStormSuite {
    private static final int WORDS = 3_000;
    private static final int TASKS = 5;

    /**
     * The spout may have only so many numbers under way: if all of them came to wait behind the
     * task that stands still, nothing would move any more. Storm's own grouping would send none to
     * the tasks in the worker that the spout is not in.
     */
    @Test
    void aTaskThatStandsStillIsLeftAloneAndAllOthersWorkAlsoAcrossWorkers() throws Exception {
        ExclamationPlan plan =
                new ExclamationPlan(
                        "test-standstill", Technique.BALANCED, 1, 0, WORDS, TASKS, 2, 0, 1, 1);
        Seen seen =
                new Seen(
                        plan.run(),
                        measured -> measured.ackedWords() > WORDS - StallingTopology.PENDING_MAX);
        StragglerSettings settings = StragglerSettings.none().balanced(StallingTopology.FIRST);
        ExclamationReport report =
                new ExclamationRun(
                                plan,
                                StallingTopology.of(plan, settings),
                                StallingTopology.conf(plan))
                        .run(storm(), measured -> {});
        assertThat(report.failed()).isZero();
        assertThat(report.acked()).isEqualTo(WORDS);
        assertThat(report.ackedTwice()).isZero();
        assertThat(seen.tasks()).hasSize(WORDS);
        assertThat(seen.tasks().values()).allSatisfy(tasks -> assertThat(tasks).hasSize(1));
        Set<Integer> atWork =
                seen.tasks().values().stream()
                        .map(tasks -> tasks.get(0))
                        .collect(Collectors.toSet());
        assertThat(atWork).hasSize(TASKS);
    }
}
