package io.afterbay.edge.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.command.flink.sql.ScriptException;
import io.afterbay.edge.plan.PlanTable.PlanColumn;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PlanMakerTest {
    private static final String REPORTS =
            """
            CREATE TABLE reports (
              room INT, temperature DOUBLE, ts TIMESTAMP(3),
              WATERMARK FOR ts AS ts - INTERVAL '2' SECOND
            ) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = 'file:///reports');
            """;

    private static final String ROOMS =
            """
            CREATE TABLE rooms (room INT, n BIGINT, average DOUBLE, closes TIMESTAMP(3))
              WITH ('connector' = 'blackhole');
            """;

    private static String windows(String window) {
        return """
               SELECT room, COUNT(*) AS n, AVG(temperature) AS average, window_end AS closes
               FROM TABLE(%s)
               GROUP BY room, window_start, window_end;
               """
                .formatted(window);
    }

    private static String tumble() {
        return windows("TUMBLE(TABLE reports, DESCRIPTOR(ts), INTERVAL '10' SECOND)");
    }

    private static ScriptPlan plan(String text) throws ScriptException {
        return PlanMaker.plan("rooms.sql", text);
    }

    @Test
    void everyKindOfWindowHasALocalNode() throws Exception {
        for (String window :
                List.of(
                        "TUMBLE(TABLE reports, DESCRIPTOR(ts), INTERVAL '10' SECOND)",
                        "HOP(TABLE reports, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)",
                        "CUMULATE(TABLE reports, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)")) {
            ScriptPlan plan = plan(REPORTS + ROOMS + "INSERT INTO rooms " + windows(window));
            assertThat(plan.plan().toString())
                    .contains("stream-exec-local-window-aggregate_1")
                    .contains("stream-exec-global-window-aggregate_1");
            assertThat(plan.plan().isInsertOnly()).isTrue();
        }
    }

    @Test
    void tablesAreInThePlan() throws Exception {
        ScriptPlan plan = plan(REPORTS + ROOMS + "INSERT INTO rooms " + tumble());
        assertThat(plan.statement().line()).isEqualTo(7);
        assertThat(plan.plan().sources())
                .containsExactly(
                        new PlanTable(
                                "`default_catalog`.`default_database`.`reports`",
                                "reports",
                                List.of(
                                        new PlanColumn("room", "INT"),
                                        new PlanColumn("temperature", "DOUBLE"),
                                        new PlanColumn("ts", "TIMESTAMP_WITHOUT_TIME_ZONE")),
                                Map.of(
                                        "connector", "filesystem",
                                        "format", "json",
                                        "path", "file:///reports")));
        assertThat(plan.plan().sinks()).extracting(PlanTable::name).containsExactly("rooms");
    }

    /** A SELECT needs no table for its rows; views and settings are known behind them. */
    @Test
    void selectsArePlannedWithATableForTheirRows() throws Exception {
        ScriptPlan plan =
                plan(
                        "SET 'table.local-time-zone' = 'Asia/Tokyo';\n"
                                + REPORTS
                                + "CREATE VIEW warm AS SELECT * FROM reports WHERE temperature > 10;\n"
                                + tumble().replace("TABLE reports", "TABLE warm"));
        assertThat(plan.plan().sinks())
                .extracting(PlanTable::name)
                .containsExactly(PlanMaker.RESULT_TABLE);
        assertThat(plan.plan().sinks().get(0).columns())
                .extracting(PlanColumn::name)
                .containsExactly("room", "n", "average", "closes");
        assertThat(plan.plan().toString()).contains("Asia/Tokyo");
        assertThat(plan.session().zone()).isEqualTo(ZoneId.of("Asia/Tokyo"));
    }

    /** Wherever it is made: the zone of the JVM is not in it. */
    @Test
    void plansAreTheSameEachTime() throws Exception {
        String script = REPORTS + ROOMS + "INSERT INTO rooms " + tumble();
        java.util.TimeZone zone = java.util.TimeZone.getDefault();
        String first = plan(script).plan().toString();
        try {
            java.util.TimeZone.setDefault(java.util.TimeZone.getTimeZone("America/Lima"));
            assertThat(plan(script).plan().toString()).isEqualTo(first).contains("UTC");
        } finally {
            java.util.TimeZone.setDefault(zone);
        }
    }

    /** Sites could not know. */
    @Test
    void whatAPlanDoesNotSayIsRefused() {
        assertThatThrownBy(
                        () ->
                                plan(
                                        "SET 'table.exec.legacy-cast-behaviour' = 'enabled';"
                                                + REPORTS
                                                + "SELECT room FROM reports;"))
                .isInstanceOf(ScriptException.class)
                .hasMessageContainingAll("statement 1, line 1", "how casts behave");
    }

    @Test
    void messagesNameStatementAndLine() {
        Map<String, List<String>> wrong =
                Map.of(
                        REPORTS + "SELECT room, FROM reports;",
                        List.of("rooms.sql, statement 2, line 5:", "line 5"),
                        REPORTS + "\nSELECT rom FROM reports;",
                        List.of("rooms.sql, statement 2, line 6:", "'rom' not found"),
                        REPORTS,
                        List.of("statement 1, line 1", "no INSERT or SELECT"),
                        "",
                        List.of("statement 1, line 1", "no INSERT or SELECT"),
                        REPORTS + "SELECT room FROM reports;\nSELECT room FROM reports;",
                        List.of(
                                "statement 3, line 6",
                                "in line 5; make this one a script of its own"),
                        "SET 'table.optimizer.agg-phase-strategy' = 'ONE_PHASE';",
                        List.of("statement 1, line 1", "take this statement out"),
                        "SET 'execution.runtime-mode' = 'batch';",
                        List.of("only streaming jobs"),
                        REPORTS + "SHOW TABLES;",
                        List.of("statement 2, line 5", "only ADD JAR, SET, CREATE"),
                        "BEGIN STATEMENT SET;",
                        List.of("statement sets"));
        wrong.forEach(
                (script, parts) ->
                        assertThatThrownBy(() -> plan(script))
                                .isInstanceOf(ScriptException.class)
                                .hasMessageContainingAll(parts.toArray(CharSequence[]::new)));
    }

    private static final String TOPICS =
            """
            CREATE TABLE reports (
              room INT, temperature DOUBLE, ts TIMESTAMP(3),
              WATERMARK FOR ts AS ts - INTERVAL '2' SECOND
            ) WITH (
              'connector' = '%s', 'topic' = 'reports', 'properties.bootstrap.servers' = 'kafka:9092',
              'value.format' = '%s', 'value.json.ignore-parse-errors' = 'true'
            );
            CREATE TABLE rooms (
              room INT, n BIGINT, average DOUBLE, closes TIMESTAMP(3),
              PRIMARY KEY (room, closes) NOT ENFORCED
            ) WITH (
              'connector' = 'upsert-kafka', 'topic' = 'rooms', 'properties.bootstrap.servers' = 'kafka:9092',
              'key.format' = 'json', 'value.format' = 'json'
            );
            INSERT INTO rooms %s
            """;

    private static ScriptPlan forFiles(String connector, String format) throws ScriptException {
        return PlanMaker.plan(
                "rooms.sql",
                TOPICS.formatted(connector, format, tumble()),
                new Planning(List.of(), true));
    }

    @Test
    void filesStandForTopicsWhereSitesFilesArePlayed() throws Exception {
        PlanJson plan = forFiles("kafka", "json").plan();
        assertThat(plan.sources().get(0).options())
                .containsOnly(
                        Map.entry("connector", "filesystem"),
                        Map.entry("format", "json"),
                        Map.entry("path", "reports"),
                        Map.entry("json.ignore-parse-errors", "true"));
        assertThat(plan.sinks().get(0).options()).containsEntry("connector", "filesystem");
        assertThat(plan.toString())
                .contains("stream-exec-local-window-aggregate_1")
                .doesNotContain("kafka");
        assertThat(forFiles("kafka", "csv").plan().sources().get(0).options())
                .containsEntry("format", "json");
    }

    @Test
    void noFileStandsForRowsThatReplaceOthersOrForAConnectorThatNobodyKnows() {
        assertThatThrownBy(() -> forFiles("upsert-kafka", "json"))
                .hasMessageContaining("table reports: rows of connector 'upsert-kafka' replace");
        assertThatThrownBy(() -> forFiles("kafka", "debezium-json"))
                .hasMessageContaining("table reports: rows of format 'debezium-json'");
        assertThatThrownBy(() -> forFiles("pulsar", "json"))
                .hasMessageContaining("no connector or format 'pulsar' in Flink itself")
                .hasMessageContaining("--jar")
                .hasMessageContaining("put 'connector' = 'filesystem'");
    }

    @Test
    void whatFlinkDoesNotBringAlongIsNamedWithTheWayOut() {
        assertThatThrownBy(
                        () ->
                                plan(
                                        REPORTS.replace("filesystem", "kafka")
                                                + "SELECT room FROM reports;"))
                .isInstanceOf(ScriptException.class)
                .hasMessageContainingAll(
                        "statement 2, line 5",
                        "no connector or format 'kafka' in Flink itself",
                        "--jar",
                        "flink-sql-connector-kafka-5.0.0-2.2.jar");
        assertThatThrownBy(
                        () ->
                                plan(
                                        REPORTS.replace("'json'", "'yaml'")
                                                + "SELECT room FROM reports;"))
                .hasMessageContainingAll("no connector or format 'yaml'", "--jar")
                .hasMessageNotContaining("kafka");
        assertThatThrownBy(() -> plan("ADD JAR 'none.jar';"))
                .isInstanceOf(ScriptException.class)
                .hasMessageContainingAll("statement 1, line 1", "none.jar");
    }
}
