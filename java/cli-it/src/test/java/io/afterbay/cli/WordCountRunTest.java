package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.cli.process.KafkaClassPath;
import io.afterbay.cli.run.WordCountCommand;
import io.afterbay.testing.Await;
import io.afterbay.testing.LongForm;
import io.afterbay.testing.TestForm;
import io.afterbay.workloads.wordcount.WordCountPlan;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The command as users run it, with processes and a broker of its own. */
class WordCountRunTest {
    @TempDir private Path directory;

    @Test
    void countsWordsAndReports() throws Exception {
        Command command = new Command(directory);
        int code =
                command.run(
                        "run",
                        "word-count",
                        "--words",
                        "4000",
                        "--rate",
                        "2000",
                        "--json",
                        command.json(),
                        "--partitions",
                        "2",
                        "-D",
                        "commit.interval.ms=50");
        assertThat(code).as(command.err()).isZero();
        assertThat(command.out())
                .contains("4,000 words in", "Kafka Streams 4.3", "P99.9", "2 stores, 0 flushes")
                .contains("all right, each exactly once")
                .containsPattern("word0 +\\d+");
        JsonNode json = command.summary();
        assertThat(json.path("outcome").asText()).isEqualTo("finished");
        assertThat(json.path("results").asLong()).isEqualTo(4_000);
        assertThat(json.path("latency_ms").path("p50").asDouble()).isPositive();
        assertThat(json.path("rocksdb").path("flushes").asLong(-1)).isZero();
        assertThat(json.path("options").path("settings").path("commit.interval.ms").asText())
                .isEqualTo("50");
    }

    @Test
    void desyncIsOnUnlessItIsSwitchedOff() {
        assertThat(plan().spreadsTriggers()).isTrue();
        assertThat(plan("--desync").spreadsTriggers()).isTrue();
        assertThat(plan("--no-desync").spreadsTriggers()).isFalse();
        assertThat(plan().name()).startsWith("afterbay-word-count-").isNotEqualTo(plan().name());
    }

    private static WordCountPlan plan(String... options) {
        List<String> args = new ArrayList<>(List.of("run", "word-count"));
        args.addAll(List.of(options));
        return Afterbay.commandLine()
                                .parseArgs(args.toArray(String[]::new))
                                .subcommand()
                                .subcommand()
                                .commandSpec()
                                .userObject()
                        instanceof WordCountCommand command
                ? command.plan()
                : fail("not word-count");
    }

    @Test
    @LongForm
    void failsWhereNoBrokerAnswers() throws Exception {
        Command command = new Command(directory);
        assertThat(command.run("run", "word-count", "--bootstrap", "127.0.0.1:1")).isEqualTo(1);
        assertThat(command.err())
                .contains("no Kafka broker answers at 127.0.0.1:1")
                .contains("leave out --bootstrap");
    }

    /** SIGTERM, since SIGINT is ignored where a shell has put the tests aside. */
    static List<String> killOrBoth() {
        return TestForm.IS_LONG ? List.of("TERM", "KILL") : List.of("KILL");
    }

    /** A signal, and kill -9 of the process that the user started: nothing stays. */
    @ParameterizedTest
    @MethodSource("killOrBoth")
    void leavesNothingBehindWhenItIsEnded(String signal) throws Exception {
        Path work = Files.createDirectory(directory.resolve("work"));
        Command command = new Command(directory);
        Process process =
                command.start(
                        "run", "word-count", "--words", "1000000", "--work-dir", work.toString());
        try {
            Await.until("Kafka Streams starts", () -> hasState(work));
            ProcessHandle worker = process.children().findFirst().orElseThrow();
            new ProcessBuilder("kill", "-" + signal, String.valueOf(process.pid()))
                    .start()
                    .waitFor();
            Await.until("the command ends", () -> !process.isAlive());
            assertThat(process.exitValue()).isEqualTo(signal.equals("TERM") ? 143 : 137);
            Await.until("the worker ends", () -> !worker.isAlive());
            Await.until("files are gone", () -> isEmpty(work));
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    private static boolean hasState(Path work) throws IOException {
        try (Stream<Path> runs = Files.list(work)) {
            return runs.anyMatch(run -> Files.exists(run.resolve("state")));
        }
    }

    private static boolean isEmpty(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.findAny().isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--words 0 | --words 0",
                "--rate 0 | --rate 0",
                "--rate NaN | --rate NaN",
                "--skew -1 | --skew -1",
                "--partitions 257 | from 1 to 256",
                "--threads 0 | --threads 0",
                "--vocabulary 0 | --vocabulary 0",
                "--bootstrap localhost | is no HOST:PORT",
                "-D commit.interval.ms | KEY=VALUE",
                "-D bootstrap.servers=a:1 | use --bootstrap instead",
                "-D num.stream.threads=1 | use --threads instead",
                "-D rocksdb.config.setter=Mine | --no-desync",
            })
    void wrongOptionsEndWithTwoAndSayWhatIsRight(String argumentsAndMessage) {
        String[] parts = argumentsAndMessage.split(" \\| ", -1);
        List<String> args = new ArrayList<>(List.of("run", "word-count"));
        args.addAll(Arrays.asList(parts[0].split(" ", -1)));
        StringWriter err = new StringWriter();
        CommandLine command = Afterbay.commandLine().setErr(new PrintWriter(err, true));
        assertThat(command.execute(args.toArray(String[]::new))).isEqualTo(2);
        assertThat(err.toString()).contains("afterbay run word-count: ").contains(parts[1]);
    }

    /** Both have the classes {@code org.rocksdb}, in different versions. */
    @Test
    void theClassPathsOfFlinkAndKafkaHaveNothingOfEachOther() throws Exception {
        assertThat(KafkaClassPath.read())
                .contains("rocksdbjni-", "kafka-streams-4.3")
                .doesNotContain("frocksdbjni", "/flink-");
        assertThat(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .anyMatch(entry -> entry.contains("frocksdbjni"))
                .noneMatch(entry -> entry.contains("/rocksdbjni-") || entry.contains("/kafka-"));
    }
}
