package io.afterbay.storm.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.storm.StragglerSettings;
import io.afterbay.storm.workloads.StallingTopology.Seen;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Replays on real Storm in this process, of a task that stands still. No time is asserted. */
class ReplayTest extends EmbeddedStormSuite {
    private static final int WORDS = 3_000;

    /** The spout is fast, so that all that may be pending soon waits behind the stalled task. */
    private ReplayFigures run(String run, double share, Predicate<Measured> isOver)
            throws Exception {
        ExclamationPlan plan =
                new ExclamationPlan(run, Technique.REPLAY, 1, 0, WORDS, 5, 1, 0, 1, 1);
        Seen seen = new Seen(run, isOver);
        ExclamationReport report =
                new ExclamationRun(
                                plan,
                                StallingTopology.of(
                                        plan,
                                        StragglerSettings.none()
                                                .replayed(StallingTopology.SPOUT)
                                                .replayShare(share)),
                                StallingTopology.conf(plan))
                        .run(storm(), measured -> {});
        assertThat(report.acked()).isEqualTo(WORDS);
        assertThat(report.ackedTwice()).isZero();
        assertThat(report.failed()).isZero();
        assertThat(seen.pendingMax()).isEqualTo(StallingTopology.PENDING_MAX);
        assertThat(((Number) seen.limit()).intValue()).isEqualTo(StallingTopology.PENDING_MAX);
        ReplayFigures figures = report.replays();
        check(seen, figures);
        return figures;
    }

    /** A replay is another task's; some may not have been executed before the end. */
    private static void check(Seen seen, ReplayFigures figures) {
        long executed = seen.tasks().values().stream().mapToLong(List::size).sum();
        assertThat(executed).isBetween((long) WORDS, WORDS + figures.sent());
        assertThat(seen.tasks().values())
                .allSatisfy(tasks -> assertThat(tasks).doesNotHaveDuplicates());
    }

    /** Nothing else can end the stall, and the pending tuples leave Storm's limit no room. */
    @Test
    void aReplayAtAnotherTaskEndsAStall() throws Exception {
        ReplayFigures figures = run("test-replay", 0.2, StallingTopology::isAcked);
        assertThat(figures.sent()).isBetween(1L, WORDS / 5 + 10L);
        assertThat(figures.won()).isBetween(1L, figures.sent());
    }

    /** The control: with nothing to spend, late words wait. */
    @Test
    void withoutABudgetNothingIsReplayed() throws Exception {
        ReplayFigures figures =
                run("test-no-replay", 0, measured -> measured.replays().sum("refused") > 0);
        assertThat(figures.sent()).isZero();
        assertThat(figures.won()).isZero();
        assertThat(figures.refused()).isPositive();
    }
}
