package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.cli.engine.Backend;
import io.afterbay.command.ExitCode;
import io.afterbay.testing.Await;
import io.afterbay.testing.LongForm;
import io.afterbay.testing.OwnJvm;
import io.afterbay.testing.TestForm;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The command as users run it: in processes of its own, on the whole city trace. */
class TrafficJamRunTest {
    private static final Path HOME = Path.of("../..").toAbsolutePath().normalize();
    private static final Path EXPECTED = HOME.resolve("examples/traffic-jam/expected.csv");
    private static final String TRACE =
            """
            time_s,car,street,x_m,y_m,speed_mps
            0,a,one,0,0,1.0
            7,b,one,0,0,2.0
            1,c,one,0,0,2.0
            8,d,two,0,0
            8,e,two,0,0,2.25
            """;
    private static final String ROWS =
            """
            window_end_s,rank,street,cars,mean_speed_mps,jam
            10,1,one,2,1.500,1.784
            10,2,two,1,2.300,0.835
            """;

    @TempDir private Path directory;
    private Path json;
    private Process started;

    static List<Backend> oursOrAll() {
        return TestForm.IS_LONG ? ValuesTest.backends() : List.of(Backend.AFTERBAY);
    }

    @ParameterizedTest
    @MethodSource("oursOrAll")
    void printsTheRightRankingWithEveryBackend(Backend backend) throws Exception {
        Path output = directory.resolve("out.csv");
        Process run =
                start(
                        "--backend", backend.toString(),
                        "--memory", "1g",
                        "--output", output.toString());
        assertThat(end(run)).as(err()).isZero();
        assertThat(output).hasSameTextualContentAs(EXPECTED);
        assertThat(out()).containsPattern("1 +556 +18 +0.000 +18.000");
        assertThat(err()).contains("memory 1.0 GiB: heap ");
        JsonNode summary = summary();
        assertThat(summary.get("outcome").asText()).isEqualTo("finished");
        assertThat(summary.get("events").asLong()).isEqualTo(770_513);
        assertThat(summary.get("options").get("backend").asText()).isEqualTo(backend.toString());
        assertThat(summary.get("latency_ms").get("results").asLong()).isEqualTo(120);
        assertThat(summary.get("last_ranking")).hasSize(5);
        assertThat(summary.get("cpu_us_per_event").asDouble()).isPositive();
    }

    @Test
    void rejectsAreCountedAndWrittenAndRowsMayGoToStandardOutput() throws Exception {
        Path trace = Files.writeString(directory.resolve("trace.csv"), TRACE);
        Path rejects = directory.resolve("rejects.csv");
        Process run =
                start(
                        "--input",
                        trace.toString(),
                        "--output",
                        "-",
                        "--rejects",
                        rejects.toString());
        assertThat(end(run)).as(err()).isZero();
        assertThat(out()).isEqualTo(ROWS);
        assertThat(err()).contains("1 late, 1 malformed");
        assertThat(rejects)
                .hasContent(
                        "line,reason,text\n4,late,1,c,one,0,0,2.0\n5,not 6 columns,8,d,two,0,0\n");
        assertThat(summary().get("late").asLong()).isEqualTo(1);
        assertThat(summary().get("malformed").asLong()).isEqualTo(1);
    }

    @Test
    @LongForm
    void standardInputIsReadAsItComes() throws Exception {
        Path output = directory.resolve("out.csv");
        Process run = start("--input", "-", "--output", output.toString());
        run.getOutputStream().write(TRACE.getBytes(StandardCharsets.UTF_8));
        run.getOutputStream().write("21,a,far,0,0,0\n".getBytes(StandardCharsets.UTF_8));
        run.getOutputStream().flush();
        Await.until(
                "the rows are out",
                () -> Files.exists(output) && Files.readString(output).equals(ROWS));
        assertThat(run.isAlive()).isTrue();
        run.getOutputStream().close();
        assertThat(end(run)).as(err()).isZero();
        assertThat(output).hasContent(ROWS + "30,1,far,1,0.000,1.000\n");
    }

    @Test
    void aSignalEndsTheRunWithTheReportSoFar() throws Exception {
        Path output = directory.resolve("out.csv");
        // Some of the trace is left however late the signal is: all of it takes minutes.
        Process run = start("--rate", "2000", "--repeat", "100", "--output", output.toString());
        Await.until(
                "some rows are out",
                () -> Files.exists(output) && Files.readAllLines(output).size() > 20);
        run.destroy();
        assertThat(end(run)).as(err()).isEqualTo(ExitCode.TERMINATED);
        assertThat(out()).contains("Most jammed streets").contains("events/s");
        assertThat(summary().get("outcome").asText()).isEqualTo("interrupted");
        List<String> rows = Files.readAllLines(output);
        assertThat(rows).isEqualTo(Files.readAllLines(EXPECTED).subList(0, rows.size()));
    }

    /** In the normal form, ReplayRunTest kills such a one. */
    @Test
    @LongForm
    void aKilledCommandLeavesNoWorkerBehind() throws Exception {
        Process run = start("--rate", "20000", "--repeat", "100");
        // Before the worker, it starts a JVM that tries its options.
        Await.until(() -> "a worker is at work: " + err(), () -> err().contains("events"));
        List<ProcessHandle> children = run.children().toList();
        assertThat(children).isNotEmpty();
        run.destroyForcibly();
        Await.until("the worker ends", () -> children.stream().noneMatch(ProcessHandle::isAlive));
    }

    @Test
    @LongForm
    @EnabledOnOs(OS.LINUX)
    void aFullDiskIsNamed() throws Exception {
        Process run = start("--output", "/dev/full");
        assertThat(end(run)).isEqualTo(1);
        assertThat(err())
                .contains("/dev/full cannot be written: No space left on device; make room")
                .doesNotContain("\tat ");
        assertThat(summary().get("outcome").asText()).isEqualTo("failed");
    }

    @Test
    @LongForm
    void aBrokenInputEndsTheRunWithItsName() throws Exception {
        byte[] whole = Files.readAllBytes(HOME.resolve("examples/traffic-jam/city-traffic.csv.gz"));
        Path cut = directory.resolve("cut.csv.gz");
        Files.write(cut, Arrays.copyOf(whole, 100_000));
        Process run = start("--input", cut.toString());
        assertThat(end(run)).isEqualTo(1);
        assertThat(err())
                .contains("cut.csv.gz cannot be read beyond line ")
                .doesNotContain("\tat ");
    }

    @AfterEach
    void nothingIsLeftInTheWorkingDirectory() throws Exception {
        if (started != null) {
            started.destroyForcibly(); // of a test that failed
        }
        Await.until("files are gone", () -> isEmpty(file("work")));
    }

    private static boolean isEmpty(Path path) throws IOException {
        try (Stream<Path> files = Files.list(path)) {
            return files.findAny().isEmpty();
        }
    }

    private Process start(String... args) throws IOException {
        json = file("summary.json");
        Files.createDirectories(file("work"));
        List<String> command = OwnJvm.command(Afterbay.class.getName(), "-Dafterbay.home=" + HOME);
        command.addAll(
                List.of(
                        "run",
                        "traffic-jam",
                        "--json",
                        json.toString(),
                        "--work-dir",
                        file("work").toString()));
        command.addAll(List.of(args));
        started =
                new ProcessBuilder(command)
                        .redirectOutput(file("out").toFile())
                        .redirectError(file("err").toFile())
                        .start();
        return started;
    }

    private Path file(String name) {
        return directory.resolve(name);
    }

    private int end(Process run) throws Exception {
        Await.until(() -> "the command ends: " + err(), () -> !run.isAlive());
        return run.exitValue();
    }

    private String out() throws IOException {
        return Files.readString(file("out"));
    }

    private String err() throws IOException {
        return Files.readString(file("err"));
    }

    private JsonNode summary() throws IOException {
        return new ObjectMapper().readTree(json.toFile());
    }
}
