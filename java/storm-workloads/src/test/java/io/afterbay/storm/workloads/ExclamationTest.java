package io.afterbay.storm.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** On real Storm in this process. Shares are counted; no time is asserted. */
class ExclamationTest extends EmbeddedStormSuite {
    private static final int WORDS = 1500;

    private ExclamationReport run(Technique technique, double slowdown) throws Exception {
        // A fifth of the slow task's words in time would be more than it can do.
        ExclamationPlan plan =
                new ExclamationPlan(
                        "test-" + technique, technique, 500, 0, WORDS, 5, 1, 1, slowdown, 1);
        return new ExclamationRun(plan).run(storm(), measured -> {});
    }

    private static void assertRight(ExclamationReport report) {
        assertThat(report.acked()).isEqualTo(WORDS);
        assertThat(report.ackedTwice()).isZero();
        assertThat(report.failed()).isZero();
        report.executed()
                .forEach(
                        (bolt, tasks) ->
                                assertThat(tasks.values().stream().mapToLong(Long::longValue).sum())
                                        .as(bolt)
                                        .isEqualTo(WORDS));
    }

    /** The control: what the techniques are for. */
    @Test
    void stormGivesASlowTaskAsMuchAsTheOthers() throws Exception {
        ExclamationReport report = run(Technique.NONE, 8);
        assertRight(report);
        assertThat(report.shareOfFirstTask()).isBetween(0.15, 0.25);
    }

    @Test
    void balancedItGetsLittle() throws Exception {
        ExclamationReport report = run(Technique.BALANCED, 8);
        assertRight(report);
        assertThat(report.shareOfFirstTask()).isBetween(0.0001, 0.12);
    }

    @Test
    void sharedItTakesLess() throws Exception {
        ExclamationReport report = run(Technique.SHARED, 8);
        assertRight(report);
        assertThat(report.shareOfFirstTask()).isBetween(0.0001, 0.15);
    }

    @Test
    void aBudgetThatIsClosedIsReportedWithTheReason() {
        StringWriter out = new StringWriter();
        ExclamationPlan plan =
                new ExclamationPlan("closed", Technique.REPLAY, 1, 0, 200, 1, 1, 1, 1, 1);
        Map<String, Map<Integer, Long>> executed = Map.of("exclaim1", Map.of(0, 150L, 1, 53L));
        ReplayFigures figures = new ReplayFigures(4, 3, 9, 0.25, 0.621, 0.3);
        ExclamationReport report =
                new ExclamationReport(plan, Map.of(), executed, 200, 0, 0, figures);
        ExclamationText.print(new PrintWriter(out, true), report);
        assertThat(out.toString())
                .contains("replays      4 (2.0 %), won 3")
                .contains("extra work   1.5 %")
                .contains(
                        "budget       closed 25 % of the time: queues at 62 %, processors at 30 %");
    }

    @Test
    void aWordThatIsAckedTwiceOrNotAtAllIsWrong() {
        Measured measured = Measured.of("wrong");
        measured.acked(0, 1, true);
        measured.acked(0, 1, true);
        ExclamationPlan plan = new ExclamationPlan("wrong", Technique.NONE, 1, 0, 1, 1, 1, 1, 1, 1);
        ExclamationReport report = ExclamationReport.of(plan, measured);
        assertThat(report.isRight()).isFalse();
        assertThat(report.ackedTwice()).isEqualTo(1);
        assertThat(new ExclamationReport(plan, Map.of(), Map.of(), 1, 0, 0, null).isRight())
                .isTrue();
        Measured.forget("wrong");
    }
}
