package io.afterbay.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.doctor.analysis.JobReport;
import io.afterbay.doctor.analysis.Unit;
import io.afterbay.doctor.analysis.Verdict;
import io.afterbay.doctor.reading.Evidence;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** {@code afterbay doctor LOG...} on logs in the form of RocksDB. */
class DoctorTest {
    @TempDir private Path directory;
    private String out = "";
    private String err = "";

    private int run(Object... words) {
        StringWriter output = new StringWriter();
        StringWriter errors = new StringWriter();
        CommandLine command = Doctor.commandLine();
        command.setOut(new PrintWriter(output, true)).setErr(new PrintWriter(errors, true));
        List<String> args = new ArrayList<>();
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
                .contains("worst moments\n", "time (UTC)")
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
    void kafkaStreamsGetsItsProperties() throws IOException {
        TextLogs.kafkaStreams(directory, 8, 24);
        assertThat(run(directory)).isZero();
        assertThat(out)
                .startsWith("Aligned")
                .contains(
                        "rocksdb.config.setter=io.afterbay.kafka.DesyncRocksDBConfigSetter",
                        "afterbay.desync.trigger.spread=true")
                .doesNotContain("state.backend");
    }

    /** Each segment of a window store is a database, and they are one instance. */
    @Test
    void windowStoresOfKafkaStreamsAreRecognized() throws IOException {
        TextLogs.kafkaStreamsWindows(directory, 8, 24, 3);
        assertThat(run(directory)).isZero();
        assertThat(out)
                .startsWith("Aligned: up to 8 of 8 instances")
                .contains("8 instances of 1 stage, Kafka Streams")
                .contains("rocksdb.config.setter=io.afterbay.kafka.DesyncRocksDBConfigSetter");
    }

    /** Their times would be the first and the last that there are. */
    @Test
    void logsWithoutAnEndOfAnythingHaveNoTime() throws IOException {
        TextLogs.folders(directory, 8, 24);
        for (int i = 0; i < 8; i++) {
            Path log = directory.resolve("shard-" + i + "/LOG");
            Files.write(
                    log,
                    Files.readAllLines(log).stream()
                            .filter(line -> !line.contains("_finished"))
                            .toList());
        }
        Path page = directory.resolve("page.html");
        assertThat(run(directory, "--html", page)).isZero();
        assertThat(out)
                .startsWith("Too little data")
                .contains("8 instances", "of no time that is known")
                .doesNotContain("294247", "1970");
        assertThat(Files.readString(page)).doesNotContain("294247", "-292275", "1970");
        assertThat(run(directory, "--json")).isZero();
        assertThat(json().get("from_us").isNull()).isTrue();
        assertThat(json().get("to_us").isNull()).isTrue();
    }

    @Test
    void logsWithoutEventsSayHowTheirProgramLogs() throws IOException {
        TextLogs.folders(directory.resolve("shards"), 1, 0);
        assertThat(run(directory)).isZero();
        assertThat(out).contains("option info_log_level").doesNotContain("state.backend");
        TextLogs.kafkaStreams(directory.resolve("state"), 1, 0);
        assertThat(run(directory.resolve("state"))).isZero();
        assertThat(out).contains("setInfoLogLevel").doesNotContain("state.backend");
    }

    @Test
    void otherProgramsGetOptionsOfRocksDB() throws IOException {
        TextLogs.folders(directory, 8, 24);
        assertThat(run(directory)).isZero();
        assertThat(out)
                .startsWith("Aligned")
                .contains("level0_file_num_compaction_trigger = 4 + i % 4")
                .doesNotContain("io.afterbay", "state.backend");
    }

    /**
     * Checkpoints of 8 s and 5 s on one worker: together they have no rhythm, one by one they do.
     */
    @Test
    void columnFamiliesOfOneDatabaseAreCompared() throws IOException {
        TextLogs.columnFamilies(directory, 1, 6, 24, "Write Buffer Full");
        assertThat(run(directory, "--html", directory.resolve("page.html"))).isZero();
        assertThat(out)
                .startsWith(
                        "Aligned: up to 6 of 6 column families compact after the same flushes (every"
                                + " 4th time, about every 32.0 s), 6 of them at the same moment")
                .contains("6 column families of 1 database, another program, RocksDB 8.10.0")
                .contains("24 of flushes, every 8.0 s", "within databases 1.00, across databases -")
                .contains("max_background_jobs = NUMBER;  // it is 8, and up to 6 compactions ran")
                .contains("NewGenericRateLimiter")
                .doesNotContain("instance", "stage", "level0_file_num", "SetBackgroundThreads")
                .doesNotContain("T = ");
        assertThat(Files.readString(directory.resolve("page.html")))
                .contains("<h1>6 of 6 column families do their heavy work at the same moment")
                .contains("another program, 6 column families of 1 database")
                .contains("Afterbay keeps databases apart, and not what is in one of them")
                .doesNotContain("about 1");
        run(directory, "--json");
        assertThat(json().get("unit").asText()).isEqualTo("column_family");
        assertThat(json().get("instance_count").asInt()).isEqualTo(6);
        assertThat(json().at("/instances/0/stage").asText()).isEqualTo("data/db-0");
        assertThat(json().at("/instances/0/instance").asText()).isEqualTo("cf-0");
        assertThat(json().at("/recommendation/expected_instances_per_burst").isNull()).isTrue();
    }

    /** What databases of these versions wrote when their log, or all their memtables, were full. */
    @ParameterizedTest
    @CsvSource({
        "WAL Full, 11.8.1, larger_log",
        "WAL Full, 6.20.3, larger_log",
        "Write Buffer Manager, 6.19.3, larger_log",
        "Write Buffer Manager, 6.8.1, larger_log",
        "Write Buffer Manager, 6.20.3, larger_memory",
        "Write Buffer Manager, 10.1.3, larger_memory",
        "Manual Flush, 8.10.0, flush_apart",
        "Get Live Files, 8.10.0, flush_apart",
        "Write Buffer Full, 8.10.0, bound_compactions",
    })
    void whyColumnFamiliesFlushDecidesWhatHelps(String reason, String version, String advice)
            throws IOException {
        TextLogs.columnFamilies(directory, 2, 4, 24, reason, version);
        assertThat(run(directory, "--json")).isZero();
        assertThat(json().at("/recommendation/advice/0/name").asText()).isEqualTo(advice);
        assertThat(json().get("stages")).hasSize(2);
        assertThat(json().at("/stages/0/alignment").asDouble()).isEqualTo(1);
        assertThat(json().at("/alignment/statistical").asDouble()).isEqualTo(1);
    }

    /** Families of one instance are alike, and flush together by design. */
    @Test
    void manyDatabasesAreComparedAndNotTheirColumnFamilies() throws IOException {
        TextLogs.columnFamilies(directory, 4, 3, 24, "Manual Flush");
        assertThat(run(directory)).isZero();
        assertThat(out)
                .startsWith("Aligned: up to 4 of 4 instances")
                .contains("level0_file_num_compaction_trigger");
        run(directory, "--json");
        assertThat(json().get("unit").asText()).isEqualTo("instance");
    }

    /** Column families of Flink are states of one operator, whatever their number. */
    @Test
    void fewSubtasksAreNotComparedByTheirStates() {
        assertThat(JobReport.of(new Synthetic().families(6).instances(1), Evidence.NONE))
                .singleElement()
                .satisfies(job -> assertThat(job.diagnosis().unit()).isEqualTo(Unit.INSTANCE))
                .satisfies(
                        job ->
                                assertThat(job.diagnosis().verdict())
                                        .isEqualTo(Verdict.TOO_LITTLE_DATA));
    }

    @Test
    void jobsAreToldApart() throws IOException {
        TextLogs.flink(directory, 16, 24, i -> 4);
        TextLogs.flink(directory, "ffff6789abcdef0123456789abcdef00", 8, 38, 5 * Synthetic.SECOND);
        assertThat(run(directory)).isZero();
        assertThat(out)
                .startsWith("Aligned: up to 16 of 16 instances")
                .contains("every 4th time, about every 32.0 s", "(job 01234567)")
                .containsPattern("job 01234567 +aligned +16 +1.00 +- +8.0 s +32.0 s")
                .containsPattern("job ffff6789 +aligned +8 +1.00 +- +5.0 s +20.0 s")
                .contains("of the 24 instances of all jobs on this worker");
        assertThat(run(directory, "--json")).isZero();
        assertThat(json().at("/jobs/0/bursts/period_ms").asDouble()).isEqualTo(8000);
        assertThat(json().at("/jobs/1/bursts/period_ms").asDouble()).isEqualTo(5000);
        assertThat(json().at("/jobs/1/worker_instance_count").asInt()).isEqualTo(24);
    }

    @Test
    void aGarbageCollectorsPauseIsNotRocksDB() throws IOException {
        TextLogs.flink(directory, 16, 24, i -> 4);
        Path latency = TextLogs.latency(directory.resolve("latency.csv"), 24);
        String pause =
                "[2025-11-23T03:00:13.000+0000] GC(1) Pause Full (System.gc()) 9M->1M(9M) 1500.0ms\n";
        Path gc = Files.writeString(directory.resolve("gc.log"), pause);
        Files.writeString(
                latency,
                Files.readString(latency).replace("1763866813.000,10", "1763866813.000,1500"));
        assertThat(run(directory, "--latency", latency, "--gc-log", gc)).isZero();
        assertThat(out)
                .contains("GC pauses    1: median 1.5 s")
                .containsPattern("2025-11-23 03:00:13.000 .* 1.5 s +1.5 s +not RocksDB: a GC pause")
                .containsPattern("900 ms +- +16 compactions");
        assertThat(run(directory, "--latency", latency, "--gc-log", gc, "--json")).isZero();
        assertThat(json().at("/worst_moments/0/is_gc_pause").asBoolean()).isTrue();
        assertThat(json().at("/gc/count").asInt()).isEqualTo(1);
        assertThat(json().at("/latency/slow_windows_in_gc_pauses").asInt()).isEqualTo(1);
    }

    @Test
    void wrongGcLogsAreNamed() throws IOException {
        TextLogs.flink(directory, 16, 24, i -> 4);
        assertThat(run(directory, "--gc-log", directory.resolve("none"))).isEqualTo(1);
        assertThat(err).contains("--gc-log", "none", "there is no such file");
        Path wrong = Files.writeString(directory.resolve("gc.log"), "Hello\n");
        assertThat(run(directory, "--gc-log", wrong)).isEqualTo(1);
        assertThat(err).contains("gc.log", "-Xlog:gc*");
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
                .contains("16 of 16 databases do their heavy work", "900 ms")
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
        assertThat(err)
                .contains("name logs, --live or a subject (orphans)", "Usage: afterbay doctor");
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

    /** What the help text gives as examples are right command lines. */
    @Test
    void examplesOfTheHelpAreAccepted() {
        String[] footer = Doctor.commandLine().getCommandSpec().usageMessage().footer();
        List<String> examples =
                Stream.of(footer)
                        .map(line -> line.formatted().strip())
                        .filter(line -> line.startsWith("./afterbay doctor "))
                        .map(line -> line.substring("./afterbay doctor ".length()))
                        .toList();
        assertThat(examples).hasSizeGreaterThan(4);
        assertThat(examples)
                .allSatisfy(example -> Doctor.commandLine().parseArgs(example.split(" +")));
        assertThatThrownBy(() -> Doctor.commandLine().parseArgs("log", "--latence", "x"))
                .isInstanceOf(ParameterException.class);
    }
}
