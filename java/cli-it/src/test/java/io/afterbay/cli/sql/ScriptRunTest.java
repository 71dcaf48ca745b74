package io.afterbay.cli.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.cli.Afterbay;
import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.EmbeddedEngine;
import io.afterbay.cli.engine.EngineArguments;
import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.command.flink.sql.ScriptException;
import io.afterbay.testing.TestForm;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Scripts as a whole, on an engine in this process, which all of them have. */
class ScriptRunTest {
    private static final String NUMBERS =
            "CREATE TABLE numbers (n BIGINT, name STRING) WITH ('connector' = 'datagen',"
                    + " 'number-of-rows' = '50', 'fields.n.kind' = 'sequence',"
                    + " 'fields.n.start' = '1', 'fields.n.end' = '50');\n"
                    + "CREATE TABLE nothing (n BIGINT) WITH ('connector' = 'blackhole');\n";

    private static final List<Path> SCRIPTS =
            List.of(
                    Path.of("../../examples/nexmark-sql"),
                    Path.of("../../bench/sql-4x"),
                    Path.of("../../bench/sql-20x"));

    @TempDir private static Path engineFiles;
    private static EmbeddedEngine engine;

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    @TempDir private Path directory;

    @BeforeAll
    static void startEngine() throws Exception {
        EngineSettings settings =
                new EngineArguments().options().settings(Afterbay.commandLine(), Backend.HASHMAP);
        engine = new EmbeddedEngine(settings, engineFiles, false);
        engine.start();
    }

    @AfterAll
    static void stopEngine() throws Exception {
        engine.close();
    }

    private ScriptRun run(String script, Path output) throws Exception {
        return run(script, output, false);
    }

    private ScriptRun run(String script, Path output, boolean remote) throws Exception {
        Path file = Files.writeString(directory.resolve("script.sql"), script);
        ScriptRun run =
                new ScriptRun(
                        file,
                        output,
                        directory,
                        new PrintStream(printed, true, StandardCharsets.UTF_8));
        run.run(environment(), remote, (key, value) -> value.equals("bad") ? "is bad" : null);
        return run;
    }

    private static StreamExecutionEnvironment environment() {
        StreamExecutionEnvironment environment =
                new StreamExecutionEnvironment(
                        engine.submissions(),
                        engine.jobSettings(false),
                        ScriptRunTest.class.getClassLoader());
        environment.setParallelism(1);
        return environment;
    }

    private String printed() {
        return printed.toString(StandardCharsets.UTF_8);
    }

    @Test
    void aSelectShowsItsFirstRowsAndTheirNumber() throws Exception {
        ScriptRun run = run(NUMBERS + "SELECT n, CAST(NULL AS INT) AS x FROM numbers;", null);
        assertThat(printed()).contains("SELECT in line 3: 50 rows, the first 20:", "  n,x\n  1,\n");
        assertThat(printed()).contains("  20,\n").doesNotContain("  21,");
        assertThat(run.rows()).containsExactly(50L);
    }

    static List<Path> scripts() throws IOException {
        List<Path> scripts = new ArrayList<>();
        for (Path directory : SCRIPTS) {
            try (Stream<Path> files = Files.list(directory)) {
                files.filter(file -> file.toString().endsWith(".sql"))
                        .sorted()
                        .limit(TestForm.SCRIPTS_OF_A_FOLDER)
                        .forEach(scripts::add);
            }
        }
        return scripts;
    }

    /** Those of the examples and of experiments, with fewer events. */
    @ParameterizedTest
    @MethodSource("scripts")
    void everyScriptYieldsRows(Path file) throws Exception {
        String script = Files.readString(file);
        assertThat(script).containsPattern("'events' = '\\d{7}'");
        ScriptRun run = run(script.replaceAll("'events' = '\\d+'", "'events' = '20000'"), null);
        assertThat(run.rows()).singleElement().satisfies(rows -> assertThat(rows).isPositive());
    }

    /** Rows that a sink writes here, and rows that come from a cluster. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anOutputTakesAllRowsWithTheKindOfChange(boolean remote) throws Exception {
        Path output = directory.resolve("rows.csv");
        run(NUMBERS + "SELECT 'a,\"b' AS t, COUNT(*) AS c FROM numbers;", output, remote);
        List<String> rows = Files.readAllLines(output);
        assertThat(rows).startsWith("op,t,c", "+I,\"a,\"\"b\",1", "-U,\"a,\"\"b\",1");
        assertThat(rows).endsWith("+U,\"a,\"\"b\",50").hasSize(1 + 1 + 2 * 49);
        assertThat(printed()).contains("99 rows").doesNotContain("+U");
    }

    @Test
    void settingsTablesPlansAndStatementSetsAreThoseOfTheSqlClient() throws Exception {
        run(
                NUMBERS
                        + "SET 'pipeline.name' = 'x;y';\nSET;\nRESET 'pipeline.name';\nSHOW TABLES;"
                        + "EXPLAIN SELECT * FROM numbers;\n"
                        + "EXECUTE STATEMENT SET BEGIN INSERT INTO nothing SELECT 1;"
                        + " INSERT INTO nothing SELECT n FROM numbers; END;\n"
                        + "BEGIN STATEMENT SET; INSERT INTO nothing SELECT 2; END;\n"
                        + "QUIT; SELECT nonsense;",
                null);
        assertThat(printed())
                .contains("'pipeline.name' = 'x;y'", "nothing |", "== Abstract Syntax Tree ==");
    }

    @Test
    void batchModeIsSetBeforeTheTables() throws Exception {
        String batch = "SET 'execution.runtime-mode' = 'batch';\n";
        run(batch + NUMBERS + "SELECT COUNT(*) AS c FROM numbers;", null);
        assertThat(printed()).contains("1 rows").contains("  c\n  50\n");
        assertThatThrownBy(() -> run(NUMBERS + batch, null))
                .hasMessageContaining("statement 3, line 3: ")
                .hasMessageContaining("must come before the other statements");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "SELECT * FROM nowhere; | line 3: .*Object 'nowhere' not found",
                "CREATE TABEL t (n INT); | line 3: .*TABEL.* at line 3, column 8",
                "INSERT INTO nothing SELECT 'a', 2; | line 3: .*nothing",
                "SET 'x' = 'bad'; | line 3: SET 'x': is bad",
                "END; | line 3: .*END",
                "BEGIN STATEMENT SET; INSERT INTO nothing SELECT 1; | line 3: BEGIN STATEMENT SET has no END",
                "BEGIN STATEMENT SET; SELECT 1; | only INSERT may stand",
                "INSERT INTO nothing SELECT n / (n - n) FROM numbers; | its job failed: Arith",
            })
    void aWrongStatementIsNamedWithItsLineAndReason(String statement, String message) {
        assertThatThrownBy(() -> run(NUMBERS + statement, null))
                .isInstanceOf(ScriptException.class)
                .hasMessageMatching("(?s).*script.sql, statement \\d, .*" + message + ".*");
    }

    @Test
    void anOutputTakesTheRowsOfOneSelect() {
        Path output = directory.resolve("rows.csv");
        assertThatThrownBy(() -> run("SELECT 1;\nSELECT 2;", output))
                .hasMessageContaining("statement 2, line 2: ")
                .hasMessageContaining("the SELECT in line 1");
    }
}
