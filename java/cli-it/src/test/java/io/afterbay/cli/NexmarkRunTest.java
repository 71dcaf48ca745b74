package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.testing.Await;
import io.afterbay.testing.LongForm;
import io.afterbay.testing.OwnJvm;
import io.afterbay.workloads.nexmark.Query;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** {@code run nexmark}: what it refuses at once, and runs in processes of their own. */
class NexmarkRunTest {
    private static final long TIMEOUT_SECONDS = Await.DEADLINE.toSeconds();

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    @TempDir private Path directory;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--events 10 | --query",
                "--query q9 | use one of q5, q5-append, q7, q7-session, q8, q11, q11-median, q12",
                "--query q5 --events 0 | --events 0: use a number from 1",
                "--query q5 --window 10 | for example 10s",
                "--query q5 --window 11ms | even number",
                "--query q5 --session-gap off | --session-gap in ms 0",
                "--query q5 --active-keys 0 | --active-keys 0",
                "--query q5 --inter-event 0 | --inter-event 0",
                "--query q5 --rate -1 | --rate -1",
                "--query q5 --checkpoint-interval 1ms | 10ms or more",
                "--query q5 --memory 64m | needs at least",
                "--query q5 --on localhost:1 --verify | --verify reads the rows",
                "--query q5 --input x | --input",
            })
    void wrongOptionsEndWithTwoAndSayWhatIsRight(String arguments, String message) {
        assertThat(execute(arguments.strip().split(" "))).isEqualTo(2);
        assertThat(err.toString()).contains("afterbay run nexmark: ").contains(message.strip());
    }

    @Test
    void helpNamesEveryQueryAndOption() {
        assertThat(execute("--help")).isZero();
        for (Query query : Query.values()) {
            assertThat(out.toString()).contains(query.toString());
        }
        assertThat(out.toString())
                .contains("--events", "--window", "--session-gap", "--active-keys", "--seed")
                .contains("--rate", "--output", "--verify", "--backend", "--memory", "--json")
                .contains("Examples:", "Exit codes:");
    }

    @Test
    void filesThatCannotBeWrittenEndWithOne() {
        String here = directory.toString();
        assertThat(execute("--query", "q8", "--output", here)).isEqualTo(1);
        assertThat(err.toString()).contains("is a directory");
        String same = directory.resolve("same").toString();
        assertThat(execute("--query", "q8", "--output", same, "--json", same)).isEqualTo(1);
        assertThat(err.toString()).contains("also the file of --output");
    }

    @Test
    void aVerifiedRunReportsItsRows() throws Exception {
        Path output = directory.resolve("rows.csv");
        JsonNode summary = run("--query", "q7-session", "--output", output.toString(), "--verify");
        List<String> rows = Files.readAllLines(output);
        assertThat(rows.get(0)).isEqualTo("session_start_ms,session_end_ms,bidder,price,auction");
        assertThat(summary.get("job").asText()).isEqualTo("nexmark");
        assertThat(summary.get("verified").asBoolean()).isTrue();
        assertThat(summary.get("events").asLong()).isEqualTo(100_000);
        assertThat(summary.get("rows").asLong()).isEqualTo(rows.size() - 1).isGreaterThan(1_000);
        assertThat(summary.get("options").get("query").asText()).isEqualTo("q7-session");
        assertThat(text("out")).contains("equal to the answer that was computed without");
    }

    @Test
    @LongForm
    void anOpenLoopHasLatenciesThatCountFromTheSchedule() throws Exception {
        JsonNode summary = run("--query", "q12", "--rate", "50000");
        assertThat(summary.get("loop").asText()).isEqualTo("open");
        assertThat(summary.get("elapsed_s").asDouble()).isGreaterThan(1.9);
        assertThat(summary.get("latency_ms").get("results").asLong()).isPositive();
        assertThat(summary.get("verified").isNull()).isTrue();
    }

    private JsonNode run(String... args) throws Exception {
        Path json = directory.resolve("summary.json");
        List<String> command = OwnJvm.command(Afterbay.class.getName());
        command.addAll(
                List.of(
                        "run",
                        "nexmark",
                        "--events",
                        "100000",
                        "--memory",
                        "1g",
                        "--json",
                        json.toString()));
        command.addAll(List.of(args));
        Process process =
                new ProcessBuilder(command)
                        .redirectOutput(directory.resolve("out").toFile())
                        .redirectError(directory.resolve("err").toFile())
                        .start();
        assertThat(process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(text("err")).isZero();
        return new ObjectMapper().readTree(json.toFile());
    }

    private String text(String file) throws IOException {
        return Files.readString(directory.resolve(file));
    }

    private int execute(String... args) {
        err.getBuffer().setLength(0);
        List<String> all = new ArrayList<>(List.of("run", "nexmark"));
        all.addAll(List.of(args));
        CommandLine command = Afterbay.commandLine();
        command.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        return command.execute(all.toArray(String[]::new));
    }
}
