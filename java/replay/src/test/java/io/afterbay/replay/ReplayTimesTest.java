package io.afterbay.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sources whose records have no time, beside others that have, and tables of SQL. */
class ReplayTimesTest {
    private static final ReplayRange RANGE = new ReplayRange(2_000, 6_000);
    private static final int NUMBERS = 9_000;

    @TempDir private Path directory;
    private Replaying replaying;
    private StreamExecutionEnvironment env;

    @BeforeEach
    void start() throws Exception {
        replaying = new Replaying(directory);
        env = Replaying.environment();
    }

    @AfterEach
    void stop() throws Exception {
        replaying.close();
    }

    private DataStream<Long> lines(String name, WatermarkStrategy<String> times) throws Exception {
        Path files = Sources.files(directory.resolve(name), NUMBERS, 2);
        return env.fromSource(Sources.monitored(files), times, name)
                .map(Long::parseLong)
                .returns(Types.LONG);
    }

    /** Numbers that are in no range of times. */
    private DataStream<Long> dimension() {
        return env.fromSource(
                new NumberSequenceSource(10_001, 10_100),
                WatermarkStrategy.noWatermarks(),
                "dimension",
                Types.LONG);
    }

    @Test
    void aSourceWithoutTimesPassesAsAWholeBesideOneThatHasThem() throws Exception {
        Replaying.count(dimension().union(lines("events", Sources.timesOfLines())));
        StreamGraph job = env.getStreamGraph();
        assertThat(replaying.rewrite(job, RANGE))
                .satisfiesExactlyInAnyOrder(
                        line -> assertThat(line).contains("'dimension'").endsWith(": all of it"),
                        line -> assertThat(line).contains("'events'").doesNotContain("all of it"));
        replaying.finish(replaying.submit(job));
        Map<Long, Integer> expected = new HashMap<>(Sources.once(2_000, 6_000));
        expected.putAll(Sources.once(10_001, 10_101));
        assertThat(Replaying.COUNTED).isEqualTo(expected);
        assertThat(replaying.lastProgress().records()).isEqualTo(4_100);
    }

    @Test
    void aJobInWhichNoSourceHasTimesFails() throws Exception {
        Replaying.count(dimension().union(lines("events", WatermarkStrategy.noWatermarks())));
        JobID job = replaying.replay(env.getStreamGraph(), RANGE);
        assertThatThrownBy(() -> replaying.finish(job))
                .hasStackTraceContaining("have no time, so nothing tells which are in")
                .hasStackTraceContaining("withTimestampAssigner");
        assertThat(Replaying.PASSED.get()).isZero();
    }

    /** The numbers, each with itself as its time, as a table of files. */
    private DataStream<Long> table(String type, String watermarkFor) throws Exception {
        List<List<String>> rows = List.of(new ArrayList<>(), new ArrayList<>());
        for (int number = 0; number < NUMBERS; number++) {
            rows.get(number % 2)
                    .add(
                            "%d,1970-01-01 00:00:%02d.%03d%s"
                                    .formatted(
                                            number,
                                            number / 1_000,
                                            number % 1_000,
                                            type.contains("LTZ") ? "Z" : ""));
        }
        Path files = Files.createDirectories(directory.resolve("table"));
        for (int file = 0; file < 2; file++) {
            Files.write(files.resolve("part-" + file), rows.get(file));
        }
        StreamTableEnvironment tables = StreamTableEnvironment.create(env);
        tables.getConfig().set("table.exec.source.idle-timeout", "1 s");
        tables.executeSql(
                "CREATE TABLE numbers (number BIGINT, ts "
                        + type
                        + (watermarkFor.equals("ts") ? "" : ", later AS ts + INTERVAL '0' SECOND")
                        + ", WATERMARK FOR "
                        + watermarkFor
                        + " AS "
                        + watermarkFor
                        + " - INTERVAL '9' SECOND) WITH ('connector' = 'filesystem', 'path' = '"
                        + files.toUri()
                        + "', 'format' = 'csv', 'source.monitor-interval' = '100 ms')");
        return tables.toDataStream(tables.sqlQuery("SELECT number FROM numbers"))
                .map(ReplayTimesTest::number)
                .returns(Types.LONG);
    }

    private static long number(Row row) {
        return (long) row.getFieldAs(0);
    }

    @Test
    void theTimeOfARowIsTheColumnOfItsWatermark() throws Exception {
        Replaying.count(table("TIMESTAMP(3)", "ts"));
        replaying.finish(replaying.replay(env.getStreamGraph(), RANGE));
        assertThat(Replaying.COUNTED).isEqualTo(Sources.once(2_000, 6_000));
        assertThat(replaying.lastProgress().records()).isEqualTo(4_000);
    }

    @Test
    void soItIsInALocalTimeZone() throws Exception {
        Replaying.count(table("TIMESTAMP_LTZ(3)", "ts"));
        replaying.finish(replaying.replay(env.getStreamGraph(), RANGE));
        assertThat(Replaying.COUNTED).isEqualTo(Sources.once(2_000, 6_000));
    }

    @Test
    void aTimeThatIsComputedBehindTheSourceIsNotKnown() throws Exception {
        Replaying.count(table("TIMESTAMP(3)", "later"));
        JobID job = replaying.replay(env.getStreamGraph(), RANGE);
        assertThatThrownBy(() -> replaying.finish(job))
                .hasStackTraceContaining("WATERMARK FOR of the table")
                .satisfies(
                        failure ->
                                assertThat(
                                                org.apache.flink.util.ExceptionUtils
                                                        .stringifyException(failure))
                                        .doesNotContain("withTimestampAssigner"));
        assertThat(Replaying.PASSED.get()).isZero();
    }

    @Test
    void tablesAreNeverIdle() throws Exception {
        Replaying.count(table("TIMESTAMP(3)", "later"));
        StreamGraph job = env.getStreamGraph(false);
        assertThat(idleTimeouts(job)).containsExactly(1_000L);
        assertThat(replaying.rewrite(job, RANGE)).anyMatch(line -> line.endsWith("never idle"));
        assertThat(idleTimeouts(job)).containsExactly(0L);
        assertThat(idleTimeouts(env.getStreamGraph())).as("the job's own").containsExactly(1_000L);
    }

    private static List<Object> idleTimeouts(StreamGraph job) throws ReplayRefusedException {
        List<Object> timeouts = new ArrayList<>();
        for (StreamNode node : job.getStreamNodes()) {
            if (RowTime.isAssignedBy(node.getOperatorFactory())) {
                timeouts.add(Fields.get(node.getOperatorFactory(), "idleTimeout"));
            }
        }
        return timeouts;
    }
}
