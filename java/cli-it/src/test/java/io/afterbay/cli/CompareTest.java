package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.bench.Comparison;
import io.afterbay.bench.Ratio;
import io.afterbay.bench.Run;
import io.afterbay.cli.compare.Compare;
import io.afterbay.testing.LongForm;
import io.afterbay.testing.OwnJvm;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** {@code compare}: what it refuses at once, and comparisons in processes of their own. */
class CompareTest {
    private static final long TIMEOUT_SECONDS = 600;

    @TempDir private Path directory;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'' | name a target",
                "nexmark | --query",
                "nexmark --query q7 --backends afterbay | at least two backends, each of them once",
                "nexmark --query q7 --backends hashmap,hashmap | at least two backends",
                "nexmark --query q7 --backends afterbay,rock | or the class name of a StateBackendFactory",
                "nexmark --query q7 --pairs 0 | --pairs 0: use a number from 1",
                "nexmark --query q7 --rate -1 | --rate -1",
                "nexmark --query q7 --warmup 5 | for example 10s",
                "nexmark --query q7 --memory 64m | needs at least",
                "nexmark --query q7 --backend afterbay | --backend",
                "nexmark --query q7 --output rows.csv | --output",
                "traffic-jam --input - | reads the trace many times",
            })
    void wrongOptionsEndWithTwoAndSayWhatIsRight(String arguments, String message) {
        StringWriter err = new StringWriter();
        List<String> all = new ArrayList<>(List.of("compare"));
        Stream.of(arguments.strip().split(" ")).filter(arg -> !arg.isEmpty()).forEach(all::add);
        CommandLine command = Afterbay.commandLine().setErr(new PrintWriter(err, true));
        assertThat(command.execute(all.toArray(String[]::new))).isEqualTo(2);
        assertThat(err.toString()).contains(message.strip());
    }

    @Test
    void aQuickComparisonGivesTableJsonAndPage() throws Exception {
        int code = end(start("--backends", "afterbay,hashmap", "--events", "20000"));
        assertThat(code).as(text("err")).isZero();
        JsonNode json = json();
        assertThat(json.get("target").asText())
                .isEqualTo("nexmark --query q7 --window 1s --events 20000");
        assertThat(json.get("outputs_equal").asBoolean()).isTrue();
        assertThat(json.get("environment").get("quick").asText()).contains("no figure counts");
        assertThat(json.get("rate_per_s").asDouble()).isPositive();
        assertThat(json.get("runs")).hasSize(2);
        json.get("runs").forEach(CompareTest::assertMeasured);
        JsonNode ratio = json.get("ratios").get("afterbay/hashmap").get("events_per_s");
        assertThat(ratio.get("min").asDouble()).isPositive();
        assertThat(json.get("timelines")).hasSize(2);
        json.get("timelines").forEach(CompareTest::assertTimeline);
        assertThat(text("out")).contains("outputs: the same rows").contains("page: ");
        assertThat(directory.resolve("page.html")).isNotEmptyFile();
        assertNothingLeft();
    }

    private static void assertMeasured(JsonNode run) {
        for (String figure :
                List.of("events_per_s", "cpu_us_per_event", "p50_ms", "p999_ms", "max_ms")) {
            assertThat(run.get(figure).asDouble()).as(figure).isPositive();
        }
        assertThat(run.get("failure").isNull()).isTrue();
        assertThat(run.get("longest_pause_ms").asDouble()).isPositive();
    }

    private static void assertTimeline(JsonNode timeline) {
        long events =
                StreamSupport.stream(timeline.get("events").spliterator(), false)
                        .mapToLong(JsonNode::asLong)
                        .sum();
        assertThat(events).isPositive();
        assertThat(timeline.get("latency_max_ms"))
                .hasSameSizeAs(timeline.get("events"))
                .anyMatch(JsonNode::isNumber);
        assertThat(timeline.get("percentiles")).isNotEmpty();
        assertThat(timeline.get("checkpoints")).isNotEmpty();
    }

    @Test
    void aRunThatFailedIsAFailureAlsoBesideOthersThatCanBeCompared() {
        Run ours = Run.none("afterbay", 1);
        Run other = Run.none("hashmap", 1);
        assertThat(Compare.exitCode(compared(ours, other), false)).isZero();
        assertThat(
                        Compare.exitCode(
                                compared(ours, other, Run.none("hashmap", 2).failed("heap")),
                                false))
                .isOne();
    }

    private static Comparison compared(Run... runs) {
        return new Comparison(
                "target",
                "command",
                Map.of(),
                "results",
                null,
                List.of(runs),
                Map.of("afterbay/hashmap", Map.of("events_per_s", new Ratio(1, 1, 1))),
                true,
                List.of());
    }

    private int compareFailing(String... backends) throws Exception {
        return end(
                start(
                        "--backends",
                        String.join(",", backends),
                        "--events",
                        "20000",
                        "--rate",
                        "20000"));
    }

    /** The negative control. */
    @Test
    void aBrokenStoreIsNoticed() throws Exception {
        int code = compareFailing("hashmap", BrokenBackend.class.getName());
        assertThat(code).as(text("err")).isEqualTo(1);
        JsonNode json = json();
        assertThat(json.get("outputs_equal").asBoolean(true)).isFalse();
        assertThat(json.get("outputs_equal").isNull()).isFalse();
        assertThat(text("err"))
                .contains("outputs differ, closed loop")
                .contains("BrokenBackend gave");
        assertThat(text("out")).contains("DIFFERENT ROWS");
        assertThat(json.get("runs")).hasSize(2);
        assertNothingLeft();
    }

    /** What else can happen to a backend. */
    @Test
    @LongForm
    void failedRunsAreRows() throws Exception {
        int code =
                compareFailing(
                        FailingBackend.class.getName(), GreedyBackend.class.getName(), "hashmap");
        assertThat(code).as(text("err")).isEqualTo(1);
        JsonNode json = json();
        assertThat(failure(json, "FailingBackend")).contains("refused on purpose");
        assertThat(failure(json, "GreedyBackend")).contains("ran out of heap");
        assertThat(json.get("runs")).hasSize(3);
        assertNothingLeft();
    }

    private static String failure(JsonNode json, String backend) {
        for (JsonNode run : json.get("runs")) {
            if (run.get("backend").asText().equals(backend)) {
                return run.get("failure").asText();
            }
        }
        throw new AssertionError("no run of " + backend);
    }

    @Test
    @LongForm
    @EnabledOnOs({OS.LINUX, OS.MAC})
    void aSignalEndsWithTheReportOfWhatWasComplete() throws Exception {
        Process run =
                start("--backends", "hashmap,afterbay", "--events", "2000", "--rate", "20000");
        awaitFirstResult(run);
        run.destroy(); // SIGTERM; SIGINT is ignored if a shell has put the tests aside
        assertThat(end(run)).as(text("err")).isEqualTo(143);
        assertThat(text("err")).contains("interrupted; the report covers");
        assertThat(json().get("runs")).hasSize(1);
        assertThat(json().get("outputs_equal").isNull()).isTrue();
        assertNothingLeft();
    }

    private void awaitFirstResult(Process run) throws IOException {
        while (run.isAlive() && !text("err").contains("run 1 of 2: hashmap, pair 1: ")) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
        }
    }

    private Process start(String... args) throws IOException {
        Path work = Files.createDirectories(directory.resolve("work"));
        List<String> command = OwnJvm.command(Afterbay.class.getName(), "-Xmx128m");
        command.addAll(
                List.of(
                        "compare",
                        "nexmark",
                        "--query=q7",
                        "--quick",
                        "--window=1s",
                        "--warmup=500ms",
                        "--latency=3s",
                        "--checkpoint-interval=500ms",
                        "--memory=1g",
                        "--work-dir=" + work,
                        "--page=" + directory.resolve("page.html"),
                        "--json=" + directory.resolve("result.json")));
        command.addAll(List.of(args));
        return new ProcessBuilder(command)
                .redirectOutput(directory.resolve("out").toFile())
                .redirectError(directory.resolve("err").toFile())
                .start();
    }

    private static int end(Process run) throws InterruptedException {
        try {
            assertThat(run.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
            return run.exitValue();
        } finally {
            run.destroyForcibly();
        }
    }

    private void assertNothingLeft() {
        assertThat(directory.resolve("work")).isEmptyDirectory();
    }

    private JsonNode json() throws IOException {
        return new ObjectMapper().readTree(directory.resolve("result.json").toFile());
    }

    private String text(String file) throws IOException {
        return Files.readString(directory.resolve(file));
    }
}
