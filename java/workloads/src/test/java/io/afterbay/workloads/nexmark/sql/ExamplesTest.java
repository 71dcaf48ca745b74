package io.afterbay.workloads.nexmark.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.testing.TestForm;
import io.afterbay.workloads.nexmark.Answers;
import io.afterbay.workloads.nexmark.Query;
import io.afterbay.workloads.run.Backends;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The SQL examples on a short stream: our backend against HashMap, and both against Java. */
class ExamplesTest {
    private static final Path EXAMPLES = Path.of("../../examples/nexmark-sql");
    private static final String AFTERBAY = "io.afterbay.flink.AfterbayStateBackendFactory";
    private static final int FILES = 10;

    /** What makes the stream short but the windows many. */
    private static final Map<String, String> SHORT =
            Map.of(
                    "'active-keys' = '10000'", "'active-keys' = '" + Answers.ACTIVE_KEYS + "'",
                    "'inter-event' = '100 micros'", "'inter-event' = '2 ms'",
                    "INTERVAL '10' SECOND", "INTERVAL '5' SECOND",
                    "INTERVAL '20' SECOND", "INTERVAL '10' SECOND",
                    "INTERVAL '2' SECOND", "INTERVAL '1' SECOND");

    @TempDir private Path directory;

    /** In the normal form, one of each kind of operator with state. */
    private static final Set<String> NORMAL =
            Set.of("q5.sql", "q7-session.sql", "top-n.sql", "interval-join.sql");

    static List<Path> normalOrAll() throws IOException {
        return examples().stream()
                .filter(
                        example ->
                                TestForm.IS_LONG
                                        || NORMAL.contains(example.getFileName().toString()))
                .toList();
    }

    private static List<Path> examples() throws IOException {
        try (Stream<Path> files = Files.list(EXAMPLES)) {
            return files.filter(file -> file.toString().endsWith(".sql")).sorted().toList();
        }
    }

    @Test
    void noExampleIsForgotten() throws IOException {
        assertThat(examples()).hasSize(FILES);
        assertThat(normalOrAll()).hasSize(TestForm.IS_LONG ? FILES : NORMAL.size());
    }

    @ParameterizedTest
    @MethodSource("normalOrAll")
    void bothBackendsGiveTheSameRows(Path example) throws Exception {
        String script = shortened(Files.readString(example));
        Map<String, Integer> expected = run(script, "hashmap");
        assertThat(expected).hasSizeGreaterThan(5);
        assertThat(run(script, AFTERBAY)).isEqualTo(expected);
        Query query = Query.named(name(example)).orElse(null);
        if (query == Query.Q5 || query == Query.Q8 || query == Query.Q11) {
            assertThat(expected).isEqualTo(Answers.of(query));
        }
    }

    /** Otherwise both runs could use the same backend unnoticed. */
    @Test
    void theBackendOfTheSettingsIsTheOneThatIsUsed() {
        String script = shortened(read("q12.sql"));
        assertThatThrownBy(() -> run(script, "no.such.Factory"))
                .hasStackTraceContaining("no.such.Factory");
    }

    private static String read(String example) {
        try {
            return Files.readString(EXAMPLES.resolve(example));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String name(Path example) {
        return example.getFileName().toString().replace(".sql", "");
    }

    private static String shortened(String script) {
        StringBuilder result = new StringBuilder();
        for (String line : script.split("\n")) {
            String changed = line;
            for (Map.Entry<String, String> change : SHORT.entrySet()) {
                changed = changed.replace(change.getKey(), "@" + change.getKey().hashCode() + "@");
            }
            for (Map.Entry<String, String> change : SHORT.entrySet()) {
                changed =
                        changed.replace("@" + change.getKey().hashCode() + "@", change.getValue());
            }
            result.append(changed).append('\n');
        }
        return result.toString();
    }

    private Map<String, Integer> run(String script, String backend) throws Exception {
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.createLocalEnvironment(
                        2, Backends.settings(backend, directory, Duration.ofMillis(200)));
        StreamTableEnvironment tables = StreamTableEnvironment.create(env);
        tables.getConfig().set("nexmark.events", String.valueOf(Answers.EVENTS));
        TableResult last = null;
        for (String statement : statements(script)) {
            last = tables.executeSql(statement);
        }
        try (CloseableIterator<Row> rows = last.collect()) {
            return materialised(rows);
        }
    }

    private static List<String> statements(String script) {
        String code =
                script.lines()
                        .filter(line -> !line.startsWith("--"))
                        .collect(Collectors.joining("\n"));
        return Stream.of(code.split(";")).map(String::strip).filter(s -> !s.isEmpty()).toList();
    }

    /** What is left of a changelog: each row with how often it is there. */
    private static Map<String, Integer> materialised(CloseableIterator<Row> changes) {
        Map<String, Integer> rows = new HashMap<>();
        while (changes.hasNext()) {
            Row row = changes.next();
            boolean added =
                    row.getKind() == RowKind.INSERT || row.getKind() == RowKind.UPDATE_AFTER;
            rows.merge(text(row), added ? 1 : -1, (a, b) -> a + b == 0 ? null : a + b);
        }
        assertThat(rows.values()).allMatch(count -> count > 0);
        return rows;
    }

    private static String text(Row row) {
        return IntStream.range(0, row.getArity())
                .mapToObj(row::getField)
                .map(ExamplesTest::text)
                .collect(Collectors.joining(","));
    }

    private static String text(Object value) {
        return value instanceof LocalDateTime time
                ? Long.toString(time.toInstant(ZoneOffset.UTC).toEpochMilli())
                : String.valueOf(value);
    }

    @Test
    void mistakesAreNamed() {
        assertThat(refused("bid", "id BIGINT", ""))
                .contains("a bid has no column id BIGINT", "auction BIGINT");
        assertThat(refused("bid", "price INT", "")).contains("a bid has no column price INT");
        assertThat(refused("house", "price BIGINT", "")).contains("house");
        assertThat(refused("bid", "price BIGINT", ", 'events' = '0'")).contains("'events': 0");
        assertThat(refused("bid", "price BIGINT", ", 'evens' = '1'")).contains("evens");
    }

    private static String refused(String kind, String column, String options) {
        StreamTableEnvironment tables =
                StreamTableEnvironment.create(StreamExecutionEnvironment.createLocalEnvironment());
        tables.executeSql(
                "CREATE TABLE t (%s) WITH ('connector' = 'nexmark', 'kind' = '%s'%s)"
                        .formatted(column, kind, options));
        List<String> messages = new ArrayList<>();
        try {
            tables.explainSql("SELECT * FROM t");
        } catch (RuntimeException e) {
            for (Throwable cause = e; cause != null; cause = cause.getCause()) {
                messages.add(cause.getMessage());
            }
        }
        assertThat(messages).isNotEmpty();
        return String.join("\n", messages);
    }
}
