package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.bench.Cell;
import io.afterbay.bench.Comparison;
import io.afterbay.bench.Run;
import io.afterbay.workloads.nexmark.Query;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;

class BenchNexmarkTest {
    private static final NexmarkCell CELL = new NexmarkCell(Cell.IN_MEMORY, Query.Q7);

    @TempDir private Path directory;

    @ParameterizedTest
    @EnumSource(Query.class)
    void everyCellIsAComparisonThatTheCommandLineTakes(Query query) {
        for (Cell cell : Cell.values()) {
            NexmarkCell one = new NexmarkCell(cell, query);
            if (!one.exists()) {
                assertThat(query).isEqualTo(Query.Q8);
                continue;
            }
            List<String> arguments = one.arguments();
            CommandLine.ParseResult parsed =
                    Afterbay.commandLine().parseArgs(arguments.toArray(String[]::new));
            CommandLine.ParseResult job = parsed.subcommand().subcommand();
            assertThat(job.matchedOptionValue("--query", Query.Q5)).isEqualTo(query);
            assertThat(job.hasMatchedOption("--cgroup-limit")).isEqualTo(cell == Cell.LIMITED);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--query q9 | use of q5, q5-append",
                "--cell disk | 4x-page-cached",
                "--pears 3 | --pears",
            })
    void wrongOptionsEndWithTwo(String arguments, String message) {
        StringWriter err = new StringWriter();
        CommandLine command = Afterbay.commandLine().setErr(new PrintWriter(err, true));
        String[] words = ("bench nexmark " + arguments.strip()).split(" ");
        assertThat(command.execute(words)).isEqualTo(2);
        assertThat(err.toString()).contains(message);
    }

    @Test
    void aComparisonIsRecordedOnceForARevision() throws Exception {
        NexmarkRecords records = new NexmarkRecords(directory, "abc");
        assertThat(records.has(CELL)).isFalse();
        add(records);
        assertThat(records.has(CELL)).isTrue();
        assertThat(records.has(new NexmarkCell(Cell.LIMITED, Query.Q7))).isFalse();
        assertThat(records.has(new NexmarkCell(Cell.IN_MEMORY, Query.Q8))).isFalse();
        assertThat(new NexmarkRecords(directory, "def").has(CELL)).isFalse();
        assertThat(Files.readAllLines(directory.resolve("nexmark.jsonl")))
                .singleElement()
                .asString()
                .contains("\"query\":\"q7\"", "\"cell\":\"memory\"", "\"backend\":\"afterbay\"");
    }

    @Test
    void aRevisionWithChangesHasNothing() throws Exception {
        NexmarkRecords records = new NexmarkRecords(directory, "abc" + Versions.DIRTY);
        add(records);
        assertThat(records.has(CELL)).isFalse();
    }

    private static void add(NexmarkRecords records) throws Exception {
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
                new NexmarkRecords.Start("2026-11-21T09:00:00Z", 0.1));
    }
}
