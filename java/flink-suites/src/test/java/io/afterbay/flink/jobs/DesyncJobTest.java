package io.afterbay.flink.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.flink.DesyncOptions;
import io.afterbay.flink.DesyncRocksDBOptionsFactory;
import io.afterbay.rocksdb.Desync;
import io.afterbay.rocksdb.DesyncMetrics;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.test.util.MiniClusterWithClientResource;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.rocksdb.Env;
import org.rocksdb.Priority;

/**
 * A job on Flink's RocksDB backend with and without {@link DesyncRocksDBOptionsFactory}: the same
 * results, and fewer compactions after the same checkpoint. Counts, and no times: each batch of
 * elements waits until the compactions of the one before it have ended.
 */
class DesyncJobTest {
    private static final int PARALLELISM = 8;
    private static final int KEYS = 400;
    private static final int BATCHES = 14;
    private static final int NEVER = Integer.MAX_VALUE;
    private static final String ROCKSDB = "state.backend.rocksdb.";

    /** Of each key. */
    private static final Map<Integer, Long> COUNTS = new ConcurrentHashMap<>();

    private static MiniClusterWithClientResource cluster;

    @BeforeAll
    static void start() throws Exception {
        cluster =
                new MiniClusterWithClientResource(
                        new MiniClusterResourceConfiguration.Builder()
                                .setNumberTaskManagers(1)
                                .setNumberSlotsPerTaskManager(PARALLELISM)
                                .build());
        cluster.before();
    }

    @AfterAll
    static void stop() {
        cluster.after();
    }

    private static Configuration rocksDB() {
        Map<String, String> options = new HashMap<>();
        options.put("state.backend.type", "rocksdb");
        options.put("execution.checkpointing.incremental", "true");
        options.put(ROCKSDB + "timer-service.factory", "HEAP");
        options.put(ROCKSDB + "thread.num", "8");
        options.put("restart-strategy.type", "fixed-delay");
        options.put("restart-strategy.fixed-delay.delay", "10 ms");
        return Configuration.fromMap(options);
    }

    private static Configuration desync(boolean spreads, boolean gates) {
        Configuration result = rocksDB();
        result.setString(ROCKSDB + "options-factory", DesyncRocksDBOptionsFactory.class.getName());
        result.set(DesyncOptions.TRIGGER_SPREAD, spreads);
        result.set(DesyncOptions.GATE, gates);
        return result;
    }

    @Test
    void theSameResultsAndFewerCompactionsAtOnce() throws Exception {
        int lowBefore = Env.getDefault().getBackgroundThreads(Priority.LOW);
        Map<Integer, Long> expected = run(rocksDB(), NEVER);
        assertThat(expected).hasSize(KEYS).allSatisfy((k, n) -> assertThat(n).isEqualTo(BATCHES));
        assertThat(BatchSource.metrics).isNull();

        assertThat(run(desync(false, false), NEVER)).isEqualTo(expected);
        DesyncMetrics aligned = BatchSource.metrics;
        assertThat(aligned.holds()).isZero();
        assertThat(BatchSource.mostCompactions).isEqualTo(PARALLELISM);

        assertThat(run(desync(true, false), NEVER)).isEqualTo(expected);
        DesyncMetrics spread = BatchSource.metrics;
        assertThat(spread.compactionsBegan()).isPositive();
        assertThat(BatchSource.mostCompactions).isLessThan(PARALLELISM);
        assertThat(spread.holds()).isZero();

        assertThat(run(desync(true, true), NEVER)).isEqualTo(expected);
        DesyncMetrics gated = BatchSource.metrics;
        assertThat(gated.compactionsBegan()).isPositive();
        assertThat(BatchSource.mostCompactions).isLessThan(PARALLELISM);
        assertThat(gated.holds()).isPositive();
        assertThat(gated.hasFailed()).isFalse();

        assertThat(Desync.metrics(Env.getDefault())).isNull();
        assertThat(Env.getDefault().getBackgroundThreads(Priority.LOW))
                .isEqualTo(Math.max(6, lowBefore)); // of 8: what Flink's options say
    }

    @Test
    void goesOnAfterARestore() throws Exception {
        assertThat(run(desync(true, true), BATCHES / 2))
                .hasSize(KEYS)
                .allSatisfy((key, n) -> assertThat(n).isEqualTo(BATCHES));
        assertThat(BatchSource.metrics.flushesBegan()).isPositive();
        assertThat(BatchSource.metrics.hasFailed()).isFalse();
        assertThat(Desync.metrics(Env.getDefault())).isNull();
    }

    /**
     * @param failingBatch after which the job fails once
     */
    private static Map<Integer, Long> run(Configuration configuration, int failingBatch)
            throws Exception {
        COUNTS.clear();
        BatchSource.reset(failingBatch);
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(configuration);
        env.setParallelism(PARALLELISM);
        env.enableCheckpointing(200);
        env.addSource(new BatchSource(KEYS, BATCHES), "source", Types.INT)
                .setParallelism(1)
                .keyBy(key -> key, Types.INT)
                .process(new Count());
        env.execute();
        assertThat(BatchSource.hasFailed).isEqualTo(failingBatch != NEVER);
        return Map.copyOf(COUNTS);
    }

    private static final class Count extends KeyedProcessFunction<Integer, Integer, Void> {
        private static final long serialVersionUID = 1L;
        private transient ValueState<Long> count;

        @Override
        public void open(OpenContext context) {
            count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Long.class));
        }

        @Override
        public void processElement(Integer key, Context context, Collector<Void> out)
                throws Exception {
            Long before = count.value();
            long now = before == null ? 1 : before + 1;
            count.update(now);
            COUNTS.put(key, now);
        }
    }
}
