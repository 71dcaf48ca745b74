package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.cli.doctor.TextLogs;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** {@code afterbay doctor LOG...} on logs in the form of RocksDB. */
class DoctorCommandTest {
    @TempDir private Path directory;
    private String out = "";
    private String err = "";

    private int run(Object... words) {
        StringWriter output = new StringWriter();
        StringWriter errors = new StringWriter();
        CommandLine command = Afterbay.commandLine();
        command.setOut(new PrintWriter(output, true)).setErr(new PrintWriter(errors, true));
        List<String> args = new ArrayList<>(List.of("doctor"));
        for (Object word : words) {
            args.add(word.toString());
        }
        int code = command.execute(args.toArray(String[]::new));
        out = output.toString();
        err = errors.toString();
        return code;
    }

    private JsonNode json() throws IOException {
        return new ObjectMapper().readTree(out);
    }

    @Test
    void saysTheVerdictFirstAndWhatToSet() throws IOException {
        TextLogs.flink(directory, 16, 24, i -> 4);
        assertThat(run(directory)).isZero();
        assertThat(out.lines().findFirst().orElseThrow())
                .startsWith("Aligned: up to 16 of 16 instances compact after the same flushes")
                .contains("every 4th time", "32.0 s", "16 of them at the same moment");
        assertThat(out)
                .contains("16 instances of 1 stage, Flink, RocksDB 8.10.0")
                .contains("4 files of level 0, all the same")
                .contains("within stages 1.00, across stages -")
                .contains("worst moments (UTC)")
                .contains(
                        "state.backend.rocksdb.options-factory:"
                                + " io.afterbay.flink.DesyncRocksDBOptionsFactory",
                        "state.backend.rocksdb.desync.trigger-spread: true");
        assertThat(err).isEmpty();
    }

    @Test
    void saysOfACuredRunThatItIsCured() throws IOException {
        TextLogs.flink(directory, 16, 40, i -> 4 + i % 4);
        assertThat(run(directory)).isZero();
        assertThat(out)
                .startsWith("Not aligned: ")
                .contains("their triggers differ (4 to 7 files)", "Nothing to set.");
    }

    @Test
    void littleDataClaimsNothing() throws IOException {
        TextLogs.flink(directory, 2, 5, i -> 4);
        assertThat(run(directory)).isZero();
        assertThat(out).startsWith("Too little data").doesNotContain("alignment", "desync");
    }

    @Test
    void kafkaStreamsGetsLinesForItsConfigSetter() throws IOException {
        TextLogs.kafkaStreams(directory, 8, 24);
        assertThat(run(directory)).isZero();
        assertThat(out)
                .startsWith("Aligned")
                .contains("rocksdb.config.setter", "setLevel0FileNumCompactionTrigger(4 +")
                .doesNotContain("desync");
    }

    @Test
    void printsJson() throws IOException {
        TextLogs.flink(directory, 16, 24, i -> 4);
        assertThat(run(directory, "--json")).isZero();
        JsonNode report = json();
        assertThat(report.get("verdict").asText()).isEqualTo("aligned");
        assertThat(report.at("/alignment/scheduled").asDouble()).isGreaterThan(0.99);
        assertThat(report.at("/alignment/statistical").isNull()).isTrue();
        assertThat(report.at("/bursts/period_ms").asDouble()).isEqualTo(8000);
        assertThat(report.at("/bursts/compaction_every").asInt()).isEqualTo(4);
        assertThat(report.at("/overlap/most_instances").asInt()).isEqualTo(16);
        assertThat(report.at("/instances/15/instance").asText()).isEqualTo("16/16");
        assertThat(report.at("/instances/0/column_families/0/trigger").asInt()).isEqualTo(4);
        assertThat(report.at("/recommendation/advice/0/name").asText())
                .isEqualTo("spread_triggers");
        assertThat(report.at("/latency").isNull()).isTrue();
        assertThat(report.at("/read/files").asInt()).isEqualTo(16);
    }

    @Test
    void takesALatencyLogAndWritesAPage() throws IOException {
        TextLogs.flink(directory, 16, 24, i -> 4);
        Path latency = TextLogs.latency(directory.resolve("latency.csv"), 24);
        Path page = directory.resolve("page.html");
        assertThat(run(directory, "--latency", latency, "--html", page)).isZero();
        assertThat(out).contains("P99 900 ms while 2 or more instances compact", "Timeline: ");
        assertThat(Files.readString(page))
                .contains("Aligned: up to 16 of 16", "900 ms")
                .doesNotContain("{{", "http://localhost");
    }

    @Test
    void latencyOfAnotherTimeIsSaidAndLeftOut() throws IOException {
        TextLogs.flink(directory, 16, 24, i -> 4);
        Path latency = Files.writeString(directory.resolve("latency.csv"), "1,10\n2,10\n");
        assertThat(run(directory, "--latency", latency, "--json")).isZero();
        assertThat(err).contains("no window of --latency");
        assertThat(json().get("latency").isNull()).isTrue();
    }

    @Test
    void goesOnWithWhatCanBeRead() throws IOException {
        TextLogs.flink(directory, 16, 24, i -> 4);
        Path missing = directory.resolve("none");
        assertThat(run(missing, directory)).isZero();
        assertThat(err).contains(missing.toString(), "there is no such file");
        assertThat(out).startsWith("Aligned");
        assertThat(run(missing)).isEqualTo(1);
        assertThat(err).contains("none of the logs could be read");
    }

    @Test
    void directoriesWithoutLogsAreRefused() {
        assertThat(run(directory)).isEqualTo(1);
        assertThat(err).contains("no info log of RocksDB", "state.backend.rocksdb.log.level");
    }

    @Test
    void wrongOptionsEndWithTwo() throws IOException {
        assertThat(run()).isEqualTo(2);
        assertThat(err).contains("name logs, or a subject", "Usage: afterbay doctor");
        assertThat(run(directory, "--latncy", "x")).isEqualTo(2);
        Path wrong = Files.writeString(directory.resolve("wrong.csv"), "a,b\n");
        assertThat(run(directory, "--latency", wrong)).isEqualTo(1);
        assertThat(err).contains(wrong.toString(), "line 1", "for example");
    }

    @Test
    void helpShowsOptionsAndExamples() {
        assertThat(run("--help")).isZero();
        assertThat(out)
                .contains("--latency", "--html", "--json", "orphans")
                .contains("Examples:", "Exit codes:");
    }
}
