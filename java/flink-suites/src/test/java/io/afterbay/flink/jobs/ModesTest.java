package io.afterbay.flink.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.flink.AfterbayOptions;
import io.afterbay.flink.contract.BackendUnderTest;
import io.afterbay.flink.contract.Instrumentation;
import io.afterbay.testing.LongForm;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.v2.ValueState;
import org.apache.flink.api.common.state.v2.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.legacy.SinkFunction;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.test.util.MiniClusterWithClientResource;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The ways to run a job other than as a stream of the DataStream API with synchronous state. */
class ModesTest {
    private static final Queue<String> OUTPUTS = new ConcurrentLinkedQueue<>();

    /** By query, from HashMap without object reuse. */
    private static final Map<String, List<String>> EXPECTED = new ConcurrentHashMap<>();

    private static final int KEYS = 20;
    private static final long ELEMENTS = 2000;

    private static MiniClusterWithClientResource cluster;

    @BeforeAll
    static void start() throws Exception {
        cluster =
                new MiniClusterWithClientResource(
                        new MiniClusterResourceConfiguration.Builder()
                                .setNumberTaskManagers(1)
                                .setNumberSlotsPerTaskManager(2)
                                .build());
        cluster.before();
    }

    @AfterAll
    static void stop() {
        cluster.after();
    }

    @BeforeEach
    void clear() {
        OUTPUTS.clear();
    }

    private static Configuration on(String backend) {
        Configuration configuration = new Configuration();
        configuration.set(StateBackendOptions.STATE_BACKEND, backend);
        return configuration;
    }

    /** By default Flink replaces every backend in batch mode; switched off, ours does the work. */
    @Test
    void batchWithoutTheBatchStateBackend() throws Exception {
        int before = Instrumentation.created();
        Configuration configuration = on(BackendUnderTest.CONFIG_NAME);
        configuration.set(ExecutionOptions.RUNTIME_MODE, RuntimeExecutionMode.BATCH);
        configuration.set(ExecutionOptions.USE_BATCH_STATE_BACKEND, false);
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(configuration);
        env.setParallelism(2);
        collect(
                env.fromSequence(0, ELEMENTS - 1)
                        .keyBy(i -> i % KEYS, Types.LONG)
                        .reduce(Long::sum)
                        .map(String::valueOf));
        env.execute();
        assertThat(OUTPUTS).containsExactlyInAnyOrderElementsOf(sums());
        // Flink chooses the parallelism of a batch job's operators itself.
        assertThat(Instrumentation.created()).isGreaterThan(before);
    }

    @Test
    void batch() throws Exception {
        int before = Instrumentation.created();
        Configuration configuration = on(BackendUnderTest.CONFIG_NAME);
        configuration.set(ExecutionOptions.RUNTIME_MODE, RuntimeExecutionMode.BATCH);
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(configuration);
        env.setParallelism(2);
        collect(
                env.fromSequence(0, ELEMENTS - 1)
                        .keyBy(i -> i % KEYS, Types.LONG)
                        .reduce(Long::sum)
                        .map(String::valueOf));
        env.execute();
        assertThat(OUTPUTS).containsExactlyInAnyOrderElementsOf(sums());
        assertThat(Instrumentation.created()).isEqualTo(before);
    }

    private static List<String> sums() {
        List<String> sums = new ArrayList<>();
        for (long key = 0; key < KEYS; key++) {
            long n = ELEMENTS / KEYS;
            sums.add(String.valueOf(n * key + KEYS * n * (n - 1) / 2));
        }
        return sums;
    }

    @Test
    void asynchronousState() throws Exception {
        int before = Instrumentation.created();
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(
                        on(BackendUnderTest.CONFIG_NAME));
        env.setParallelism(2);
        env.enableCheckpointing(50);
        collect(
                env.fromSequence(0, ELEMENTS - 1)
                        .keyBy(i -> i % KEYS, Types.LONG)
                        .enableAsyncState()
                        .process(new AsyncCount()));
        env.execute();
        List<String> expected = new ArrayList<>();
        for (long i = 0; i < ELEMENTS; i++) {
            expected.add(i % KEYS + " " + (i / KEYS + 1));
        }
        assertThat(OUTPUTS).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(Instrumentation.created() - before).isEqualTo(2);
    }

    private static final class AsyncCount extends KeyedProcessFunction<Long, Long, String> {
        private static final long serialVersionUID = 1L;
        private transient ValueState<Long> count;

        @Override
        public void open(OpenContext context) {
            count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
        }

        @Override
        public void processElement(Long element, Context context, Collector<String> out) {
            long key = context.getCurrentKey();
            count.asyncValue()
                    .thenAccept(
                            before -> {
                                long now = before == null ? 1 : before + 1;
                                count.asyncUpdate(now)
                                        .thenAccept(done -> out.collect(key + " " + now));
                            });
        }
    }

    private static void collect(DataStream<String> lines) {
        lines.addSink(
                new SinkFunction<>() {
                    private static final long serialVersionUID = 1L;

                    @Override
                    public void invoke(String line, Context context) {
                        OUTPUTS.add(line);
                    }
                });
    }

    private static final List<String> QUERIES =
            List.of(
                    "SELECT k, window_start, SUM(v), COUNT(DISTINCT v) FROM TABLE("
                            + "TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' SECOND))"
                            + " GROUP BY k, window_start, window_end",
                    "SELECT k, window_start, MAX(v), COUNT(*) FROM TABLE("
                            + "HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '0.200' SECOND,"
                            + " INTERVAL '1' SECOND)) GROUP BY k, window_start, window_end",
                    "SELECT k, window_start, SUM(v) FROM TABLE(SESSION(TABLE events PARTITION BY k,"
                            + " DESCRIPTOR(ts), INTERVAL '0.030' SECOND))"
                            + " GROUP BY k, window_start, window_end",
                    "SELECT k, SUM(v), COUNT(*) FROM events GROUP BY k",
                    "SELECT a.k, a.v, b.v FROM events a JOIN events b ON a.k = b.k AND a.ts BETWEEN"
                            + " b.ts - INTERVAL '0.050' SECOND AND b.ts",
                    "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts ASC)"
                            + " AS n FROM events) WHERE n <= 3",
                    "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '0.100' SECOND"
                            + " PRECEDING AND CURRENT ROW) FROM events");

    /** With object reuse, an operator may overwrite what it has put into a state. */
    @ParameterizedTest(name = "object reuse {0}, object tier {1}")
    @CsvSource({"true, true", "false, false"})
    void sqlWithObjectReuse(boolean reuse, boolean objectTier) throws Exception {
        for (String query : QUERIES) {
            int before = Instrumentation.created();
            List<String> ours = rows(ours(objectTier), reuse, query);
            assertThat(Instrumentation.created()).as(query).isGreaterThan(before);
            List<String> expected = EXPECTED.get(query);
            if (expected == null) {
                expected = rows(on("hashmap"), false, query);
                EXPECTED.put(query, expected);
            }
            assertThat(expected).hasSizeGreaterThan(10);
            assertThat(ours).as(query).isEqualTo(expected);
        }
    }

    @ParameterizedTest(name = "object reuse {0}, object tier {1}")
    @CsvSource({"false, true", "true, false"})
    @LongForm
    void sqlWithObjectReuseOrTheTier(boolean reuse, boolean objectTier) throws Exception {
        sqlWithObjectReuse(reuse, objectTier);
    }

    /** With a tier that is so small that all passes through it, or without. */
    private static Configuration ours(boolean objectTier) {
        Configuration configuration = on(BackendUnderTest.CONFIG_NAME);
        if (objectTier) {
            return BackendUnderTest.fewObjects(configuration);
        }
        configuration.set(AfterbayOptions.OBJECT_TIER, false);
        return configuration;
    }

    /** The rows with their kinds, sorted. One instance, so that the input has one order. */
    private static List<String> rows(Configuration configuration, boolean reuse, String query)
            throws Exception {
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(configuration);
        env.setParallelism(1);
        if (reuse) {
            env.getConfig().enableObjectReuse();
        }
        StreamTableEnvironment tables = StreamTableEnvironment.create(env);
        DataStream<Row> input =
                env.fromSequence(0, 1499)
                        .map(
                                i ->
                                        Row.of(
                                                "key" + i * 31 % 11,
                                                i,
                                                Instant.ofEpochMilli(i * 7 - i % 5 * 3)))
                        .returns(
                                Types.ROW_NAMED(
                                        new String[] {"k", "v", "ts"},
                                        Types.STRING,
                                        Types.LONG,
                                        Types.INSTANT));
        tables.createTemporaryView(
                "events",
                input,
                Schema.newBuilder()
                        .column("k", "STRING")
                        .column("v", "BIGINT")
                        .column("ts", "TIMESTAMP_LTZ(3)")
                        .watermark("ts", "ts - INTERVAL '0.030' SECOND")
                        .build());
        List<String> rows = new ArrayList<>();
        try (CloseableIterator<Row> results = tables.executeSql(query).collect()) {
            results.forEachRemaining(row -> rows.add(row.toString()));
        }
        return rows.stream().sorted().toList();
    }
}
