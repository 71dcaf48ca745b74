package io.afterbay.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.command.ExitCode;
import io.afterbay.edge.EdgeProcess.Answer;
import io.afterbay.edge.program.EdgeProgram;
import io.afterbay.testing.CityTrace;
import io.afterbay.testing.Prerequisite;
import io.afterbay.testing.RustPrograms;
import io.afterbay.testing.TestForm;
import java.io.File;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The verbs as users type them, on the example. */
class EdgeVerbsTest {
    private static final Path EXAMPLE = RustPrograms.home().resolve("examples/edge-traffic");
    private static final String STREETS = EXAMPLE.resolve("streets.sql").toString();

    @TempDir Path directory;

    @BeforeAll
    static void program() {
        System.setProperty(EdgeProgram.PROPERTY, RustPrograms.path("afterbay-edge").toString());
    }

    private static Answer edge(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine command =
                Edge.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        int code = command.execute(arguments);
        return new Answer(code, out.toString(), err.toString());
    }

    @Test
    void planShowsTheCutAndWhyNodesStayInTheCloud() throws Exception {
        Answer text = edge("plan", STREETS);
        assertThat(text.code()).as(text.err()).isEqualTo(ExitCode.OK);
        assertThat(text.out())
                .contains("stream-exec-local-window-aggregate_1", "why: it merges")
                .contains("parts of its aggregates");
        Answer json = edge("plan", STREETS, "--json");
        JsonNode report = new ObjectMapper().readTree(json.out());
        assertThat(report.path("pipelines").path(0).path("rows").asText()).isEqualTo("partial");
    }

    /** As an option, and as a key of an app. */
    @Test
    void columnsOfASiteMakeWindowsFinal() throws Exception {
        Answer json = edge("plan", STREETS, "--local", "reports.street", "--json");
        assertThat(json.code()).as(json.err()).isEqualTo(ExitCode.OK);
        JsonNode pipeline = new ObjectMapper().readTree(json.out()).path("pipelines").path(0);
        assertThat(pipeline.path("rows").asText()).isEqualTo("final");
        assertThat(pipeline.path("table").asText()).isEqualTo("edge_finals");
        assertWrong(
                ExitCode.FAILURE, "no table has a column lane", "plan", STREETS, "--local", "lane");
        Path app = directory.resolve("app.toml");
        String example = Files.readString(EXAMPLE.resolve("app.toml"));
        String source = "kind = \"source\"";
        Files.writeString(app, example.replace(source, source + "\nlocal = [\"street\"]"));
        Answer ofApp = edge("plan", app.toString(), "--json");
        assertThat(ofApp.code()).as(ofApp.err()).isEqualTo(ExitCode.OK);
        pipeline = new ObjectMapper().readTree(ofApp.out()).path("pipelines").path(0);
        assertThat(pipeline.path("rows").asText()).isEqualTo("final");
    }

    /** A set of cars is no value that a table carries. */
    @Test
    void ofDistinctCarsOnlyColumnsLeaveTheSites() throws Exception {
        Answer json = edge("plan", EXAMPLE.resolve("cars.sql").toString(), "--json");
        assertThat(json.code()).as(json.err()).isEqualTo(ExitCode.OK);
        JsonNode report = new ObjectMapper().readTree(json.out());
        assertThat(report.path("pipelines").path(0).path("rows").asText()).isEqualTo("projected");
        assertThat(report.path("nodes").findValuesAsText("type"))
                .contains("stream-exec-local-window-aggregate_1");
    }

    /** A plan may be cut and not be run yet: one hears of it before one tries. */
    @Test
    void planSaysWhatIsNotRun() throws Exception {
        String table =
                """
                CREATE TABLE %s (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
                  WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json');
                """;
        Path two =
                Files.writeString(
                        directory.resolve("two.sql"),
                        table.formatted("r")
                                + table.formatted("s")
                                + "SELECT r.k FROM r JOIN s ON r.k = s.k AND r.ts = s.ts;");
        String reason = "the job reads 2 tables (r, s)";
        assertThat(edge("plan", two.toString()).out()).contains("does not run", reason);
        Answer json = edge("plan", two.toString(), "--json");
        assertThat(new ObjectMapper().readTree(json.out()).path("notRun").asText())
                .startsWith(reason);
        assertWrong(ExitCode.FAILURE, reason, "run", two.toString(), "--site", "a=" + two);
        assertThat(edge("plan", STREETS).out()).doesNotContain("does not run");
    }

    /** In a process whose class path has no Kafka, as that of users. */
    @Test
    void aJobOnTopicsIsPlannedWithTheConnectorThatItsUserNames() throws Exception {
        String topics = Files.readString(Path.of(STREETS)).replaceAll("WITH \\([^)]*\\)", TOPIC);
        assertThat(topics.split("'kafka'", -1)).hasSize(3);
        Path script = Files.writeString(directory.resolve("topics.sql"), topics);
        Answer without = EdgeProcess.withoutKafka(directory, "plan", script.toString());
        assertThat(without.code()).as(without.out()).isEqualTo(ExitCode.FAILURE);
        assertThat(without.err()).contains("no connector or format 'kafka'", "--jar");
        Path kept = directory.resolve("plan.json");
        List<String> arguments =
                new ArrayList<>(List.of("plan", script.toString(), "--json", "--keep", "" + kept));
        arguments.addAll(EdgeProcess.kafkaJars());
        Answer answer = EdgeProcess.withoutKafka(directory, arguments.toArray(String[]::new));
        assertThat(answer.code()).as(answer.err()).isEqualTo(ExitCode.OK);
        JsonNode pipeline = new ObjectMapper().readTree(answer.out()).path("pipelines").path(0);
        assertThat(pipeline.path("rows").asText()).isEqualTo("partial");
        assertThat(Files.readString(kept)).contains("WatermarkPushDown", "\"topic\" : \"streets\"");
    }

    private static final String TOPIC =
            "WITH ('connector' = 'kafka', 'topic' = 'streets', 'format' = 'json',"
                    + " 'properties.bootstrap.servers' = 'kafka:9092')";

    /** As an app, over links that break: what its sites see comes from a script beside it. */
    @Test
    void theExampleHasTheRowsOfAnotherProgram() throws Exception {
        Prerequisite.check(
                Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
                        .anyMatch(folder -> Files.isExecutable(Path.of(folder, "python3"))),
                () -> "there is no python3 (apt-get install python3)");
        Path trace = CityTrace.first(TestForm.EDGE_REPORTS, directory.resolve("trace.csv"));
        Path expected = directory.resolve("expected.csv");
        python(expected, "expected.py", trace);
        Path rows = directory.resolve("rows.csv");
        Answer answer =
                edge(
                        "run",
                        exampleOf(trace).toString(),
                        "--play",
                        "3s",
                        "--outage",
                        "1s",
                        "--output",
                        rows.toString());
        assertThat(answer.code()).as(answer.out() + answer.err()).isEqualTo(ExitCode.OK);
        List<String> lines = Files.readAllLines(rows);
        assertThat(lines).isEqualTo(Files.readAllLines(expected)).hasSizeGreaterThan(1_000);
        assertThat(answer.out())
                .contains("rows equal: %,d\n".formatted(lines.size()))
                .contains("of 8 sites, partial rows sent; ", "down for 1.0 s")
                .contains("bytes over the links", "age of results, median");
        if (TestForm.IS_LONG) {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(rows));
            assertThat(Files.readString(EXAMPLE.resolve("expected.sha256")))
                    .startsWith(HexFormat.of().formatHex(digest));
        }
    }

    /** The example beside another trace. */
    private Path exampleOf(Path trace) throws Exception {
        Path folder = Files.createDirectory(directory.resolve("edge-traffic"));
        for (String file : List.of("app.toml", "sites.sql")) {
            Files.copy(EXAMPLE.resolve(file), folder.resolve(file));
        }
        Path cars = Files.createDirectory(directory.resolve("traffic-jam"));
        try (OutputStream out =
                new GZIPOutputStream(Files.newOutputStream(cars.resolve("city-traffic.csv.gz")))) {
            Files.copy(trace, out);
        }
        return folder;
    }

    /** What is not understood at a site must not become a wrong answer. */
    @Test
    void watermarksThatSitesDoNotMakeAreOfOneSiteEach() throws Exception {
        Path script =
                Files.writeString(
                        directory.resolve("job.sql"),
                        """
                        CREATE TABLE r (k STRING, t STRING, ts AS TO_TIMESTAMP(t),
                          WATERMARK FOR ts AS ts)
                          WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json');
                        SELECT k, COUNT(*) AS c
                        FROM TABLE(TUMBLE(TABLE r, DESCRIPTOR(ts), INTERVAL '10' SECOND))
                        GROUP BY k, window_start, window_end;
                        """);
        for (String site : List.of("a", "b")) {
            List<String> lines = new ArrayList<>();
            for (int second = 10; second < 60; second++) {
                lines.add(
                        "{\"k\": \"%s\", \"t\": \"2026-01-01 00:00:%d\"}".formatted(site, second));
            }
            Files.write(directory.resolve(site + ".ndjson"), lines);
        }
        Answer answer = edge("run", script.toString(), "--sites", directory.toString());
        assertThat(answer.code()).as(answer.out() + answer.err()).isEqualTo(ExitCode.OK);
        assertThat(answer.out()).contains("rows equal: 10\n", "raw rows");
    }

    /** What a plan does not say: the session's zone, and how its table's JSON is written. */
    @Test
    void theZoneAndTheFormatAreThoseOfTheScript() throws Exception {
        Path script =
                Files.writeString(
                        directory.resolve("job.sql"),
                        """
                        SET 'table.local-time-zone' = 'Asia/Tokyo';
                        CREATE TABLE r (ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts)
                          WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json',
                                'json.timestamp-format.standard' = 'ISO-8601');
                        SELECT CAST(ts AS STRING) AS t FROM r;
                        """);
        Path site =
                Files.writeString(
                        directory.resolve("a.ndjson"), "{\"ts\": \"2026-01-01T00:00:00Z\"}\n");
        Path rows = directory.resolve("rows.csv");
        Answer answer =
                edge("run", script.toString(), "--site", "a=" + site, "--output", rows.toString());
        assertThat(answer.code()).as(answer.out() + answer.err()).isEqualTo(ExitCode.OK);
        assertThat(rows).hasContent("2026-01-01 09:00:00.000");
    }

    /** Of a jar that is not on the class path; also where a script says what sites see. */
    @Test
    void functionsOfAJarRunInTheCloud() throws Exception {
        Path jar = jarWithFunction();
        String table =
                """
                CREATE TABLE r (k INT, time_s BIGINT, ts AS TO_TIMESTAMP_LTZ(time_s * 1000, 3),
                  WATERMARK FOR ts AS ts)
                  WITH ('connector' = 'filesystem', 'path' = 'seen.ndjson', 'format' = 'json');
                """;
        Files.writeString(
                directory.resolve("seen.ndjson"),
                "{\"k\": 1, \"time_s\": 1}\n{\"k\": 2, \"time_s\": 2}\n");
        String job = table + "%s SELECT twice(k) AS k FROM r;";
        String function = "CREATE FUNCTION twice AS 'Twice'";
        Path sites =
                Files.writeString(
                        directory.resolve("sites.sql"),
                        table
                                + function
                                + "; SELECT 'a' AS edge_site, twice(k) AS k, time_s FROM r;");
        Path script = directory.resolve("job.sql");
        Path rows = directory.resolve("rows.csv");
        List<String> run = List.of("run", "" + script, "--output", "" + rows, "--sites");
        Files.writeString(script, job.formatted(function + ";"));
        assertRows(rows, "4\n8\n", with(run, "" + sites, "--jar", "" + jar));
        assertWrong(ExitCode.FAILURE, "sites.sql, statement 3", with(run, "" + sites));
        Files.copy(directory.resolve("seen.ndjson"), directory.resolve("a.ndjson"));
        Files.delete(directory.resolve("seen.ndjson"));
        Files.writeString(script, job.formatted("ADD JAR '%s'; %s;".formatted(jar, function)));
        assertRows(rows, "2\n4\n", with(run, "" + directory));
        Files.writeString(script, job.formatted("%s USING JAR '%s';".formatted(function, jar)));
        assertRows(rows, "2\n4\n", with(run, "" + directory, "--link", "8mbit", "--play", "1s"));
    }

    private static String[] with(List<String> arguments, String... more) {
        return Stream.concat(arguments.stream(), Stream.of(more)).toArray(String[]::new);
    }

    private static void assertRows(Path rows, String expected, String... arguments) {
        Answer answer = edge(arguments);
        assertThat(answer.code()).as(answer.out() + answer.err()).isEqualTo(ExitCode.OK);
        assertThat(rows).hasContent(expected);
    }

    private Path jarWithFunction() throws Exception {
        Path source =
                Files.writeString(
                        directory.resolve("Twice.java"),
                        """
                        public class Twice extends org.apache.flink.table.functions.ScalarFunction {
                            public Integer eval(Integer value) { return 2 * value; }
                        }
                        """);
        assertThat(
                        ToolProvider.getSystemJavaCompiler()
                                .run(
                                        null,
                                        null,
                                        null,
                                        "-cp",
                                        System.getProperty("java.class.path"),
                                        source.toString()))
                .isZero();
        Path jar = directory.resolve("twice.jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            out.putNextEntry(new JarEntry("Twice.class"));
            Files.copy(directory.resolve("Twice.class"), out);
        }
        return jar;
    }

    private static void python(Path output, String program, Path... arguments) throws Exception {
        List<String> command =
                new ArrayList<>(List.of("python3", EXAMPLE.resolve(program).toString()));
        Stream.of(arguments).map(Path::toString).forEach(command::add);
        Process process =
                new ProcessBuilder(command)
                        .redirectOutput(output.toFile())
                        .redirectError(Redirect.INHERIT)
                        .start();
        assertThat(process.waitFor()).isZero();
    }

    @Test
    void whatIsWrongIsNamed() throws Exception {
        Path script = Files.writeString(directory.resolve("job.sql"), "SELECT 1;\nSELEC 2;");
        Path site = Files.writeString(directory.resolve("a.ndjson"), "{\"time_s\": 1, \"car\"");
        assertWrong(ExitCode.USAGE, "name a verb");
        assertWrong(ExitCode.FAILURE, "none.sql: no such file", "plan", "none.sql");
        assertWrong(
                ExitCode.FAILURE,
                "--jar none.jar: no file that can be read",
                "plan",
                STREETS,
                "--jar",
                "none.jar");
        assertWrong(ExitCode.FAILURE, "job.sql, statement 2, line 2: ", "plan", script.toString());
        assertWrong(ExitCode.USAGE, "--site NAME=FILE or --sites DIR", "run", STREETS);
        assertWrong(ExitCode.USAGE, "'fast' is not a rate", "run", STREETS, "--link", "fast");
        assertWrong(
                ExitCode.USAGE,
                "'amqp://x' is not like mqtt://HOST:PORT",
                "run",
                "--mqtt",
                "amqp://x",
                STREETS);
        assertWrong(ExitCode.USAGE, "with --mqtt", "run", STREETS, "--sequence", "time_s");
        assertWrong(
                ExitCode.USAGE,
                "--publish t is at the sites' broker: give --mqtt",
                "run",
                STREETS,
                "--publish",
                "t",
                "--local",
                "street");
        assertWrong(
                ExitCode.USAGE,
                "--publish 'a/#': one topic is needed",
                "run",
                STREETS,
                "--mqtt",
                "--publish",
                "a/#",
                "--local",
                "street");
        assertWrong(
                ExitCode.USAGE,
                "--publish t is of rows that are final at a site: name the columns",
                "run",
                STREETS,
                "--site",
                "a=" + site,
                "--mqtt",
                "--publish",
                "t");
        assertWrong(ExitCode.USAGE, "give --bootstrap HOST:PORT", "run", STREETS, "--on", "a:8081");
        assertWrong(
                ExitCode.USAGE, "'kafka' is no HOST:PORT", "run", STREETS, "--bootstrap", "kafka");
        assertWrong(
                ExitCode.USAGE,
                "'flink' is no HOST:PORT",
                "run",
                STREETS,
                "--bootstrap",
                "kafka:9092",
                "--on",
                "flink");
        assertWrong(ExitCode.USAGE, "--sequence COLUMN", "run", STREETS, "--mqtt", "--by", "car");
        assertWrong(ExitCode.FAILURE, "app.toml: no such file", "plan", directory.toString());
        assertWrong(
                ExitCode.FAILURE,
                "site a: none.ndjson: no such file",
                "run",
                STREETS,
                "--site",
                "a=none.ndjson");
        assertWrong(
                ExitCode.FAILURE,
                "has no files *.ndjson",
                "run",
                STREETS,
                "--sites",
                EXAMPLE.toString());
        assertWrong(ExitCode.FAILURE, "a.ndjson", "run", STREETS, "--site", "a=" + site);
    }

    /** Lines are those of the app file, also of what only Flink finds. */
    @Test
    void whatIsWrongInAnAppFileIsNamedWithItsLine() throws Exception {
        String app = Files.readString(EXAMPLE.resolve("app.toml"));
        Path file = directory.resolve("app.toml");
        Files.writeString(file, app.replace("kind = \"sink\"", "kind = \"sank\""));
        assertWrong(ExitCode.USAGE, "source, view, statement, sink", "plan", file.toString());
        Files.writeString(file, app.replace("MAX(speed_dmps)", "MAX(speed)"));
        int line = 1 + app.lines().toList().indexOf("[services.busy]");
        assertWrong(
                ExitCode.FAILURE,
                "app.toml:%d: service busy: ".formatted(line),
                "plan",
                file.toString());
    }

    private static void assertWrong(int code, String message, String... arguments) {
        Answer answer = edge(arguments);
        assertThat(answer.code()).as(answer.out() + answer.err()).isEqualTo(code);
        assertThat(answer.err()).contains(message);
        assertThat(answer.out()).isEmpty();
    }
}
