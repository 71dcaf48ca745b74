package io.afterbay.storm.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** The verb, which starts a cluster of its own. */
class ExclamationCommandTest {
    @TempDir private Path directory;

    /** What it says, and writes. */
    private record Answer(String out, JsonNode report) {}

    /** For a second, after the warm-up. */
    private Answer run(String... options) throws Exception {
        StringWriter out = new StringWriter();
        Path json = directory.resolve("report.json");
        List<String> arguments = new ArrayList<>(List.of(options));
        arguments.addAll(List.of("--rate=100", "--seconds=1", "--json=" + json));
        CommandLine command = Exclamation.commandLine().setOut(new PrintWriter(out, true));
        assertThat(command.execute(arguments.toArray(String[]::new))).isZero();
        return new Answer(out.toString(), new ObjectMapper().readTree(json.toFile()));
    }

    @Test
    void theCommandReportsAndWritesJson() throws Exception {
        Answer answer = run("--technique=Balanced", "--slow-task=3x");
        assertThat(answer.out())
                .contains("on Storm 2.8.3", "technique: balanced; one of 5 tasks 3x slower")
                .contains("latency      P50 ", ", P99.9 ", "acked        each word once");
        JsonNode report = answer.report();
        assertThat(report.at("/options/technique").asText()).isEqualTo("balanced");
        assertThat(report.at("/latency_ms/p99_9").asDouble()).isPositive();
        assertThat(report.at("/executed/exclaim1")).hasSize(5);
        assertThat(report.at("/acked").asInt()).isEqualTo(600);
    }

    @Test
    void ofReplaysTheCommandReportsHowManyAndWhatTheyCost() throws Exception {
        Answer answer = run("--technique=replay");
        assertThat(answer.out())
                .contains("technique: replay", "acked        each word once")
                .containsPattern("replays      \\d+ \\(\\d+\\.\\d %\\), won \\d+")
                .containsPattern("extra work   \\d+\\.\\d %")
                .containsPattern(
                        "budget       (open|closed \\d+ % of the time): queues at \\d+ %, processors at \\d+ %");
        JsonNode replays = answer.report().at("/replays");
        assertThat(replays.at("/sent").asInt()).isBetween(0, 600 / 50 + 10);
        assertThat(replays.at("/won").asInt()).isBetween(0, replays.at("/sent").asInt());
        assertThat(replays.at("/queues").asDouble()).isBetween(0.0, 1.0);
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
}
