package io.afterbay.experiments.replay;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.cli.Command;
import io.afterbay.experiments.ShortForm;
import io.afterbay.experiments.bench.Bench;
import io.afterbay.testing.LongForm;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class BenchReplayTest {
    @TempDir private Path directory;

    private int run(String... more) throws Exception {
        return new ShortForm(directory, "replay").run(more);
    }

    /** Tables, rates and conflicts are checked by the command. */
    @Test
    @LongForm
    void theQuickFormHasAReplayThatIsRightAndAControlThatIsWrong() throws Exception {
        Command command = new Command(directory);
        assertThat(run()).as(command.err()).isZero();
        Map<String, JsonNode> runs = new HashMap<>();
        command.summary().forEach(run -> runs.put(run.get("variant").asText(), run));
        assertThat(runs).containsOnlyKeys("fixed", "unmerged");
        JsonNode fixed = runs.get("fixed");
        assertThat(fixed.get("wrong").asInt(-1)).isZero();
        assertThat(fixed.get("conflicts").asLong()).isPositive();
        assertThat(runs.get("unmerged").get("wrong").asInt()).isPositive();
        for (String phase : List.of("before", "during", "after")) {
            assertThat(fixed.get(phase).get("arrived").asLong()).isPositive();
            assertThat(fixed.get(phase).get("p99_ms").asDouble()).isPositive();
        }
        assertThat(fixed.get("seconds")).hasSizeGreaterThan(3);
        assertThat(command.out()).contains("- Aim: ", "`fixed 800/s`");
        assertThat(directory.resolve("results")).doesNotExist();
        assertThat(directory.resolve("work")).isEmptyDirectory();
    }

    @Test
    @LongForm
    void withTheResolverOffItEndsWithOne() throws Exception {
        assertThat(run("--resolver=off", "--variants=fixed")).isEqualTo(1);
        assertThat(new Command(directory).err())
                .contains("rows of the table are wrong", "there was no conflict");
    }

    /** What is compared with it, once each. */
    @Test
    @LongForm
    void theOtherWaysRunToTheirEnds() throws Exception {
        Command command = new Command(directory);
        assertThat(run("--variants=none,unthrottled,second-job,hybrid-source", "--live=50"))
                .as(command.err())
                .isZero();
        assertThat(command.summary()).hasSize(5);
        command.summary().forEach(run -> assertThat(run.get("failure").isNull()).isTrue());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--variants=magic | 'magic' is none; use one of none, unthrottled",
                "--resolver=maybe | 'maybe' is none; use one of on, off",
                "--live=0 | --live 0: use numbers from 1 to 100",
                "--live=50 --live-rate=10 | use one of them",
                "--rates=0 | --rates 0: use numbers from 1",
                "--members=10 --past=5 | --past 5: use numbers from 10",
                "--memory=2g | --memory: the jobs of this experiment have what it gives them",
                "--variants=fixed,fixed | --variants: name each of them once",
            })
    void wrongOptionsAreRefused(String options, String message) {
        assertThat(new ShortForm(directory, "replay").refused(options.strip().split(" ")))
                .contains(message.strip());
    }

    private static ReplayKind kind(String... options) {
        List<String> words = new ArrayList<>(List.of("replay"));
        words.addAll(List.of(options));
        var parsed = Bench.commandLine().parseArgs(words.toArray(String[]::new));
        CommandLine command = parsed.subcommand().commandSpec().commandLine();
        BenchReplayCommand bench = (BenchReplayCommand) command.getCommandSpec().userObject();
        return (ReplayKind) bench.checked(command);
    }

    @Test
    void theFullFormSearchesTheRateAndRunsAllVariantsInTurn() {
        List<List<ReplayBenchPlan>> rounds = kind("--pairs=2").rounds();
        assertThat(rounds).hasSize(1 + 2 * 2);
        assertThat(rounds.get(0)).allMatch(ReplayBenchPlan::isSearch);
        assertThat(rounds.get(1))
                .extracting(ReplayBenchPlan::variant)
                .containsExactly(
                        "none",
                        "unthrottled",
                        "fixed",
                        "fixed",
                        "unmerged",
                        "second-job",
                        "hybrid-source");
        assertThat(rounds.get(2).get(0).variant()).isEqualTo("unthrottled");
        assertThat(rounds)
                .extracting(round -> round.get(0).livePercent())
                .containsExactly(0, 50, 50, 70, 70);
        assertThat(rounds.get(1).get(2).replayRatePerS()).isEqualTo(2000);
        assertThat(rounds.get(1).get(1).replayRatePerS()).isNull();
    }
}
