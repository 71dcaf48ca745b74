package io.afterbay.experiments.nexmark;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.bench.Cell;
import io.afterbay.bench.Comparison;
import io.afterbay.bench.Run;
import io.afterbay.cli.Afterbay;
import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.cli.measure.NexmarkTarget;
import io.afterbay.cli.measure.SqlTarget;
import io.afterbay.cli.process.Versions;
import io.afterbay.command.ByteSize;
import io.afterbay.command.Durations;
import io.afterbay.experiments.ExperimentCell;
import io.afterbay.experiments.ExperimentRecords;
import io.afterbay.experiments.bench.Bench;
import io.afterbay.workloads.nexmark.NexmarkOptions;
import io.afterbay.workloads.nexmark.Query;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;

class ExperimentTest {
    private static final ExperimentCell CELL =
            NexmarkCells.of(Cell.IN_MEMORY, Query.Q7).orElseThrow();

    @TempDir private Path directory;

    @ParameterizedTest
    @EnumSource(Query.class)
    void everyCellIsAComparisonThatTheCommandLineTakes(Query query) {
        for (Cell cell : Cell.values()) {
            Optional<ExperimentCell> one = NexmarkCells.of(cell, query);
            assertThat(one.isPresent()).isEqualTo(cell == Cell.IN_MEMORY || query != Query.Q8);
            one.ifPresent(
                    present -> {
                        CommandLine.ParseResult job = parsed(present);
                        assertThat(job.matchedOptionValue("--query", Query.Q5)).isEqualTo(query);
                        assertThat(job.hasMatchedOption("--cgroup-limit"))
                                .isEqualTo(cell.isLimited());
                        assertIsEnoughForAllBackends(job);
                        assertIsTheSame(present, job);
                        NexmarkOptions options = ((NexmarkTarget) present.target()).options();
                        assertThat(options.query()).isEqualTo(query);
                        assertThat(options.events())
                                .isEqualTo(present.events())
                                .isEqualTo(job.matchedOptionValue("--events", 0L));
                        assertThat(options.windows().lengthMillis())
                                .isEqualTo(millis(job, "--window"));
                        assertThat(options.windows().sessionGapMillis())
                                .isEqualTo(millis(job, "--session-gap"));
                        assertThat(options.generator().activeKeys())
                                .isEqualTo(job.matchedOptionValue("--active-keys", 0L));
                        assertThat(options.generator().seed()).isEqualTo(usual(job, "--seed"));
                        assertThat(options.generator().interEventMicros())
                                .isEqualTo(usual(job, "--inter-event"));
                    });
        }
    }

    @Test
    void everyScriptIsAComparisonThatTheCommandLineTakes() {
        for (String script : SqlCells.SCRIPTS) {
            for (Cell cell : Cell.values()) {
                Optional<ExperimentCell> one = SqlCells.of(cell, script);
                assertThat(one.isPresent() || cell != Cell.IN_MEMORY).isTrue();
                one.ifPresent(
                        present -> {
                            assertThat(Path.of(present.arguments().get(2))).exists();
                            CommandLine.ParseResult job = parsed(present);
                            assertThat(job.commandSpec().name()).isEqualTo("sql");
                            assertIsEnoughForAllBackends(job);
                            assertIsTheSame(present, job);
                            assertThat(((SqlTarget) present.target()).script())
                                    .isEqualTo(present.arguments().get(2));
                            assertThat(present.engine().properties())
                                    .isEqualTo(job.matchedOptionValue("-D", Map.of()));
                        });
            }
        }
        assertThat(SqlCells.of(Cell.LIMITED, "deduplication")).isPresent();
        assertThat(SqlCells.of(Cell.LIMITED, "q7")).isEmpty();
        assertThat(SqlCells.of(Cell.LARGE_LIMITED, "q12")).isPresent();
        assertThat(SqlCells.of(Cell.LARGE_LIMITED, "q11")).isEmpty();
    }

    /** What is typed for a comparison is what runs. */
    private static void assertIsTheSame(ExperimentCell cell, CommandLine.ParseResult job) {
        assertThat(cell.engine().memory())
                .isEqualTo(job.matchedOptionValue("--memory", (ByteSize) null));
        assertThat(cell.engine().stateMemory())
                .isEqualTo(job.matchedOptionValue("--state-memory", (ByteSize) null));
        assertThat(cell.limit())
                .isEqualTo(job.matchedOptionValue("--cgroup-limit", (ByteSize) null));
        assertThat(cell.engine().checkpointInterval().toString())
                .isEqualTo(
                        new Durations()
                                .convert(
                                        job.commandSpec()
                                                .findOption("--checkpoint-interval")
                                                .defaultValue())
                                .toString());
    }

    private static long millis(CommandLine.ParseResult job, String option) {
        return job.matchedOptionValue(option, Duration.ZERO).toMillis();
    }

    private static long usual(CommandLine.ParseResult job, String option) {
        return Long.parseLong(job.commandSpec().findOption(option).defaultValue());
    }

    private static void assertIsEnoughForAllBackends(CommandLine.ParseResult job) {
        ByteSize memory = job.matchedOptionValue("--memory", null);
        ByteSize state = job.matchedOptionValue("--state-memory", null);
        for (Backend backend : Backend.KNOWN) {
            assertThat(memory.mebibytes())
                    .as("memory for %s", backend)
                    .isGreaterThanOrEqualTo(MemorySplit.minimum(backend, 2, state).mebibytes());
        }
    }

    private static CommandLine.ParseResult parsed(ExperimentCell cell) {
        String[] words = cell.arguments().toArray(String[]::new);
        return Afterbay.commandLine().parseArgs(words).subcommand().subcommand();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "nexmark --query q9 | use of q5, q5-append",
                "nexmark --cell disk | 4x-page-cached",
                "nexmark --pears 3 | --pears",
                "sql --script q9 | use of q5, q7",
                "checkpoints --sizes 1k | --sizes: use 1m",
                "checkpoints --checkpoint-interval 1s | use --intervals",
                "checkpoints --intervals 1ms | use 10ms or more, or off",
                "checkpoints --backends afterbay,afterbay | name each of them once",
                "checkpoints --backends= | --backends",
                "storm --backends afterbay | Unknown option",
                "storm --memory 2g | Unknown option",
                "checkpoints --repeats -1 | --repeats -1: use 0 or",
                "checkpoints --rate 0 | --rate 0.0: use a positive number",
                "recovery --parallelism 2 | recovers the state of one slot",
                "recovery --killed 50%,100% --parallelism 2 | only with --killed 100%",
                "recovery --killed 60% | use 2% to 50%, or 100%",
                "recovery --recovery disk | use local or remote",
                "latency --rates 0 | use percents from 1 to 100",
                "latency --cell 4x-cgroup | without a cgroup limit only",
                "latency --cell 4x-page-cached --query q8 | its state is too small",
                "latency --query q9 | use of q5, q5-append",
                "sweep --parameter leaves | use of max-space-amplification, regroup-batch",
                "sweep --backends afterbay | those of afterbay",
                "recovery --checkpoint-interval off | nothing to recover from",
                "recovery --value-bytes 1 | --value-bytes 1: use a number from 8",
            })
    void wrongOptionsEndWithTwo(String arguments, String message) {
        StringWriter err = new StringWriter();
        CommandLine command = Bench.commandLine().setErr(new PrintWriter(err, true));
        String[] words = arguments.strip().split(" ");
        assertThat(command.execute(words)).isEqualTo(2);
        assertThat(err.toString()).contains(message);
    }

    @Test
    void aComparisonIsRecordedOnceForARevision() throws Exception {
        ExperimentRecords records = new ExperimentRecords("nexmark", directory, "abc");
        assertThat(records.has(CELL)).isFalse();
        add(records);
        assertThat(records.has(CELL)).isTrue();
        assertThat(records.has(NexmarkCells.of(Cell.LIMITED, Query.Q7).orElseThrow())).isFalse();
        assertThat(records.has(NexmarkCells.of(Cell.IN_MEMORY, Query.Q8).orElseThrow())).isFalse();
        assertThat(new ExperimentRecords("nexmark", directory, "def").has(CELL)).isFalse();
        assertThat(Files.readAllLines(directory.resolve("nexmark.jsonl")))
                .singleElement()
                .asString()
                .contains("\"query\":\"q7\"", "\"cell\":\"memory\"", "\"backend\":\"afterbay\"");
    }

    @Test
    void aRevisionWithChangesHasNothing() throws Exception {
        ExperimentRecords records =
                new ExperimentRecords("nexmark", directory, "abc" + Versions.DIRTY);
        add(records);
        assertThat(records.has(CELL)).isFalse();
    }

    private static void add(ExperimentRecords records) throws Exception {
        Comparison comparison =
                new Comparison(
                        "nexmark --query q7",
                        "./afterbay compare nexmark --query q7",
                        Map.of(),
                        "results",
                        null,
                        List.of(Run.none("afterbay", 1)),
                        Map.of(),
                        true,
                        List.of());
        records.add(
                CELL,
                comparison,
                comparison.command(),
                new ExperimentRecords.Start("2026-11-21T09:00:00Z", 0.1));
    }
}
