package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.cli.engine.EmbeddedEngine;
import io.afterbay.cli.process.WorkerJvm;
import io.afterbay.testing.LongForm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code run FILE.sql} in processes of its own. */
class SqlRunTest {
    private static final Path EXAMPLE = Path.of("../../examples/nexmark-sql/q8.sql");

    @TempDir private Path directory;

    @Test
    @LongForm
    void anExampleRunsAsItIs() throws Exception {
        Path output = directory.resolve("rows.csv");
        Command command = new Command(directory);
        int code =
                command.run(
                        "run",
                        EXAMPLE.toString(),
                        "--memory",
                        "1g",
                        "--json",
                        command.json(),
                        "--output",
                        output.toString());
        assertThat(code).as(command.err()).isZero();
        List<String> rows = Files.readAllLines(output);
        assertThat(rows.get(0)).isEqualTo("window_end,person,auction");
        JsonNode summary = command.summary();
        assertThat(summary.get("job").asText()).isEqualTo("q8.sql");
        assertThat(summary.get("rows").get(0).asLong())
                .isEqualTo(rows.size() - 1)
                .isGreaterThan(10_000);
        assertThat(summary.get("warnings")).isEmpty();
    }

    /** With an option for the worker's JVM: what classes it loads goes to a file. */
    @Test
    void standardOutputHoldsNothingButTheRows() throws Exception {
        Path loaded = directory.resolve("loaded");
        Map<String, String> options =
                Map.of(WorkerJvm.VARIABLE, "-Xlog:class+load=info:file=" + loaded);
        Path script =
                Files.writeString(
                        directory.resolve("s.sql"), "SHOW CATALOGS; SELECT 1 AS a, 'x' AS b;");
        Command command = new Command(directory);
        assertThat(command.run(options, "run", script.toString(), "--output", "-"))
                .as(command.err())
                .isZero();
        assertThat(command.out()).isEqualTo("a,b\n1,x\n");
        assertThat(command.err()).contains("default_catalog");
        assertThat(loaded).content().contains(EmbeddedEngine.class.getName());
    }

    @Test
    void optionsWithWhichNoWorkerStartsAreNamed() throws Exception {
        Path script = Files.writeString(directory.resolve("s.sql"), "SHOW TABLES;");
        Map<String, String> options = Map.of(WorkerJvm.VARIABLE, "-XX:Nonsense");
        Command command = new Command(directory);
        assertThat(command.run(options, "run", script.toString())).isEqualTo(1);
        assertThat(command.err())
                .contains(WorkerJvm.VARIABLE + ", which is '-XX:Nonsense': Unrecognized VM option")
                .contains("correct it or unset it");
    }

    @Test
    @LongForm
    void aWrongStatementEndsWithOne() throws Exception {
        Path script =
                Files.writeString(directory.resolve("s.sql"), "SHOW TABLES;\nSELECT * FROM gone;");
        Command command = new Command(directory);
        assertThat(command.run("run", script.toString())).isEqualTo(1);
        assertThat(command.err()).contains("s.sql, statement 2, line 2: ").contains("gone");
    }
}
