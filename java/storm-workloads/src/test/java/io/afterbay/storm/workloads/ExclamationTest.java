package io.afterbay.storm.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** On real Storm in this process. Shares are counted; no time is asserted. */
class ExclamationTest {
    private static final int WORDS = 1500;

    @TempDir private Path directory;

    private ExclamationReport run(Technique technique, double slowdown) throws Exception {
        // A fifth of the slow task's words in time would be more than it can do.
        ExclamationPlan plan =
                new ExclamationPlan(
                        "test-" + technique, technique, 500, 0, WORDS, 5, 1, 1, slowdown, 1);
        return new ExclamationRun(plan).run(directory, measured -> {});
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
    void theCommandReportsAndWritesJson() throws Exception {
        StringWriter out = new StringWriter();
        Path json = directory.resolve("report.json");
        CommandLine command = Exclamation.commandLine().setOut(new PrintWriter(out, true));
        int code =
                command.execute(
                        "--technique=Balanced",
                        "--slow-task=3x",
                        "--rate=100",
                        "--seconds=1",
                        "--json=" + json);
        assertThat(code).isZero();
        assertThat(out.toString())
                .contains("on Storm 2.8.3", "technique: balanced; one of 5 tasks 3x slower")
                .contains("latency      P50 ", ", P99.9 ", "acked        each word once");
        JsonNode report = new ObjectMapper().readTree(json.toFile());
        assertThat(report.at("/options/technique").asText()).isEqualTo("balanced");
        assertThat(report.at("/latency_ms/p99_9").asDouble()).isPositive();
        assertThat(report.at("/executed/exclaim1")).hasSize(5);
        assertThat(report.at("/acked").asInt()).isEqualTo(600);
    }

    @Test
    void ofReplaysTheCommandReportsHowManyAndWhatTheyCost() throws Exception {
        StringWriter out = new StringWriter();
        Path json = directory.resolve("report.json");
        CommandLine command = Exclamation.commandLine().setOut(new PrintWriter(out, true));
        int code =
                command.execute(
                        "--technique=replay", "--rate=100", "--seconds=1", "--json=" + json);
        assertThat(code).isZero();
        assertThat(out.toString())
                .contains("technique: replay", "acked        each word once")
                .containsPattern("replays      \\d+ \\(\\d+\\.\\d %\\), won \\d+")
                .containsPattern("extra work   \\d+\\.\\d %")
                .containsPattern(
                        "budget       (open|closed \\d+ % of the time): queues at \\d+ %, processors at \\d+ %");
        JsonNode replays = new ObjectMapper().readTree(json.toFile()).at("/replays");
        assertThat(replays.at("/sent").asInt()).isBetween(0, 600 / 50 + 10);
        assertThat(replays.at("/won").asInt()).isBetween(0, replays.at("/sent").asInt());
        assertThat(replays.at("/queues").asDouble()).isBetween(0.0, 1.0);
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

    @ParameterizedTest
    @CsvSource({
        "--technique=fast,--technique",
        "--slow-task=0.5x,no factor of 1 or more",
        "--slow-task=fast,no factor of 1 or more",
        "--rate=0,--rate: use a number from 1 to",
        "--workers=9,--workers: use a number from 1 to 5",
        "--json=/,--json / cannot be written",
        "--tsaks=3,--tsaks"
    })
    void wrongOptionsEndWithTwo(String option, String said) {
        StringWriter err = new StringWriter();
        CommandLine command = Exclamation.commandLine().setErr(new PrintWriter(err, true));
        assertThat(command.execute(option)).isEqualTo(2);
        assertThat(err.toString()).contains("afterbay run exclamation: ").contains(said);
    }

    @Test
    void examplesOfTheHelpAreAccepted() {
        String[] footer = Exclamation.commandLine().getCommandSpec().usageMessage().footer();
        List<String> examples =
                Stream.of(footer)
                        .map(line -> line.formatted().strip())
                        .filter(line -> line.startsWith("./afterbay run exclamation "))
                        .map(line -> line.substring("./afterbay run exclamation ".length()))
                        .toList();
        assertThat(examples).hasSizeGreaterThan(2);
        assertThat(examples)
                .allSatisfy(example -> Exclamation.commandLine().parseArgs(example.split(" +")));
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
