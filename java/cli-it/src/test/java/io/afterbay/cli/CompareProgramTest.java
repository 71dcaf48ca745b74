package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.testing.LongForm;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** {@code compare FILE.jar} and {@code compare FILE.sql}, in processes of their own. */
class CompareProgramTest {
    private static final Path EXAMPLE = Path.of("../../examples/flink-job/src/main/java");

    /** A window join keeps its rows in lists. */
    private static final String SCRIPT =
            """
            CREATE TABLE person (id BIGINT, event_time TIMESTAMP(3),
                WATERMARK FOR event_time AS SOURCE_WATERMARK())
            WITH ('connector' = 'nexmark', 'kind' = 'person', 'events' = '100000');
            CREATE TABLE auction (id BIGINT, seller BIGINT, event_time TIMESTAMP(3),
                WATERMARK FOR event_time AS SOURCE_WATERMARK())
            WITH ('connector' = 'nexmark', 'kind' = 'auction', 'events' = '100000');
            SELECT p.window_end, p.id AS person, a.id AS auction
            FROM (SELECT * FROM TUMBLE(TABLE person, DESCRIPTOR(event_time), INTERVAL '1' SECOND)) AS p
            JOIN (SELECT * FROM TUMBLE(TABLE auction, DESCRIPTOR(event_time), INTERVAL '1' SECOND)) AS a
                ON p.id = a.seller AND p.window_start = a.window_start AND p.window_end = a.window_end;
            """;

    @TempDir private Path directory;

    private int compare(Command command, String target, String backends, String... more)
            throws Exception {
        List<String> args =
                new ArrayList<>(
                        List.of(
                                "compare",
                                target,
                                "--quick",
                                "--backends",
                                backends,
                                "--memory",
                                "1g",
                                "--warmup",
                                "1s",
                                "--checkpoint-interval",
                                "300ms",
                                "--json",
                                command.json(),
                                "--page",
                                directory.resolve("page.html").toString()));
        args.addAll(List.of(more));
        return command.run(args.toArray(String[]::new));
    }

    @Test
    @LongForm
    void aJarIsMeasuredByFlinksMetrics() throws Exception {
        Path jar = JobJar.build(EXAMPLE, "com.example.sessions.SessionsJob", directory);
        Command command = new Command(directory);
        int code =
                compare(
                        command,
                        jar.toString(),
                        "afterbay,hashmap",
                        "--",
                        "--events",
                        "60000",
                        "--gap-ms",
                        "2000");
        assertThat(code).as(command.err()).isZero();
        JsonNode json = command.summary();
        assertThat(json.get("target").asText()).endsWith("job.jar -- --events 60000 --gap-ms 2000");
        assertThat(json.get("latency_source").asText()).isEqualTo("markers");
        assertThat(json.get("outputs_equal").isNull()).isTrue();
        assertThat(json.get("rate_per_s").isNull()).isTrue();
        assertThat(json.get("runs")).hasSize(2);
        for (JsonNode run : json.get("runs")) {
            assertThat(run.get("failure").isNull()).as(run.toString()).isTrue();
            assertThat(run.get("events_per_s").asDouble()).isPositive();
            assertThat(run.get("p99_ms").asDouble()).isPositive();
        }
        for (JsonNode timeline : json.get("timelines")) {
            // What came before the first look at the counters is not in a window.
            assertThat(events(timeline)).isBetween(1L, 60_000L);
        }
        assertThat(directory.resolve("page.html")).isNotEmptyFile();
    }

    private static long events(JsonNode timeline) {
        return StreamSupport.stream(timeline.get("events").spliterator(), false)
                .mapToLong(JsonNode::asLong)
                .sum();
    }

    @Test
    @LongForm
    void rowsOfAScriptAreCompared() throws Exception {
        Path script = Files.writeString(directory.resolve("script.sql"), SCRIPT);
        Command command = new Command(directory);
        assertThat(compare(command, script.toString(), "afterbay,hashmap"))
                .as(command.err())
                .isZero();
        assertThat(command.summary().get("outputs_equal").asBoolean()).isTrue();
    }

    /** The negative control. */
    @Test
    void aStoreThatLosesRowsOfAScriptIsNoticed() throws Exception {
        Path script = Files.writeString(directory.resolve("script.sql"), SCRIPT);
        Command command = new Command(directory);
        String backends = BrokenBackend.class.getName() + ",hashmap";
        assertThat(compare(command, script.toString(), backends)).isEqualTo(1);
        assertThat(command.summary().get("outputs_equal").asBoolean(true)).isFalse();
        assertThat(command.err()).contains("outputs differ").contains("BrokenBackend gave");
    }

    @Test
    void whatHasNoMeaningForForeignJobsIsRefused() throws Exception {
        String script = Files.writeString(directory.resolve("s.sql"), "SELECT 1;").toString();
        for (String option : List.of("--rate=5", "--latency=5s")) {
            assertThat(execute("compare", script, option)).contains("brings its own events");
        }
        assertThat(execute("compare", "none.sql")).contains("none.sql: no such file");
        assertThat(execute("compare", "none.jar")).contains("none.jar: no such file");
    }

    private static String execute(String... args) {
        StringWriter err = new StringWriter();
        CommandLine command = Afterbay.commandLine().setErr(new PrintWriter(err, true));
        assertThat(command.execute(Targets.named(args))).isPositive();
        return err.toString();
    }
}
