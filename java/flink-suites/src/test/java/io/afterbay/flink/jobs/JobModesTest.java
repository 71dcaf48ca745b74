package io.afterbay.flink.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.flink.AfterbayStateBackend;
import io.afterbay.store.StateStores;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.runtime.state.StateBackendFactory;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One job in the modes of Flink that ask different things of a backend. */
class JobModesTest {
    private static final int KEYS = 17;
    private static final long ELEMENTS = 4000;
    private static final AtomicInteger STORES = new AtomicInteger();
    private static final AtomicInteger CHECKPOINTS = new AtomicInteger();
    private static final AtomicBoolean FAIL = new AtomicBoolean();

    /** Ours, counting the stores that are opened. */
    public static final class CountingFactory implements StateBackendFactory<AfterbayStateBackend> {
        @Override
        public AfterbayStateBackend createFromConfig(ReadableConfig config, ClassLoader loader) {
            return new AfterbayStateBackend()
                    .configure(config, loader)
                    .withStores(
                            options -> {
                                STORES.incrementAndGet();
                                return StateStores.open(options);
                            });
        }
    }

    @BeforeEach
    void reset() {
        STORES.set(0);
        CHECKPOINTS.set(0);
        FAIL.set(false);
    }

    @Test
    void streamingWithAFailure() throws Exception {
        FAIL.set(true);
        assertThat(run(streaming(Map.of()))).isEqualTo(expected());
        assertThat(FAIL).isFalse();
        assertThat(STORES.get()).isGreaterThan(1);
    }

    @Test
    void compressedCheckpointsWithAFailure() throws Exception {
        FAIL.set(true);
        assertThat(run(streaming(Map.of("execution.checkpointing.snapshot-compression", "true"))))
                .isEqualTo(expected());
        assertThat(FAIL).isFalse();
    }

    @Test
    void localRecoveryWithAFailure() throws Exception {
        FAIL.set(true);
        Configuration config = streaming(Map.of("execution.state-recovery.from-local", "true"));
        assertThat(run(config)).isEqualTo(expected());
        assertThat(FAIL).isFalse();
    }

    @Test
    void changelogWithAFailure() throws Exception {
        FAIL.set(true);
        Configuration config =
                streaming(
                        Map.of(
                                "state.changelog.enabled", "true",
                                "state.changelog.storage", "memory",
                                "state.changelog.periodic-materialize.interval", "200 ms"));
        assertThat(run(config)).isEqualTo(expected());
        assertThat(FAIL).isFalse();
        assertThat(STORES.get()).isGreaterThan(1);
    }

    @Test
    void batchOnOurStore() throws Exception {
        assertThat(run(batch())).isEqualTo(expected());
        assertThat(STORES.get()).isPositive();
    }

    private static Configuration streaming(Map<String, String> options) {
        Configuration config = Configuration.fromMap(options);
        config.setString("state.backend.type", CountingFactory.class.getName());
        config.setString("execution.checkpointing.interval", "200 ms");
        config.setString("restart-strategy.type", "fixed-delay");
        config.setString("restart-strategy.fixed-delay.attempts", "1");
        config.setString("restart-strategy.fixed-delay.delay", "10 ms");
        return config;
    }

    private static Configuration batch() {
        Configuration config = new Configuration();
        config.setString("state.backend.type", CountingFactory.class.getName());
        config.setString("execution.batch-state-backend.enabled", "false");
        config.setString("execution.runtime-mode", RuntimeExecutionMode.BATCH.name());
        return config;
    }

    private static List<String> run(Configuration config) throws Exception {
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.createLocalEnvironment(2, config);
        List<String> results = new ArrayList<>();
        try (CloseableIterator<String> iterator =
                env.fromSequence(1, ELEMENTS)
                        .map(new FailOnce())
                        .keyBy(value -> value % KEYS)
                        .process(new Totals())
                        .executeAndCollect()) {
            iterator.forEachRemaining(results::add);
        }
        return results.stream().sorted().toList();
    }

    private static List<String> expected() {
        return IntStream.range(0, KEYS)
                .mapToObj(
                        key -> {
                            List<Long> values =
                                    LongStream.rangeClosed(1, ELEMENTS)
                                            .filter(value -> value % KEYS == key)
                                            .boxed()
                                            .toList();
                            long sum = values.stream().mapToLong(Long::longValue).sum();
                            return Totals.format(key, values.size(), sum, values.size());
                        })
                .sorted()
                .collect(Collectors.toList());
    }

    /** Slow enough for checkpoints; fails after two of them, if it shall. */
    private static final class FailOnce extends RichMapFunction<Long, Long>
            implements CheckpointListener {
        private int seen;

        @Override
        public Long map(Long value) throws Exception {
            if (FAIL.get()) {
                if (++seen % 10 == 0) {
                    Thread.sleep(Duration.ofMillis(2).toMillis());
                }
                if (CHECKPOINTS.get() >= 2 && FAIL.compareAndSet(true, false)) {
                    throw new IllegalStateException("the failure of this test");
                }
                if (seen > ELEMENTS / 4) {
                    Thread.sleep(100); // not past the end before it has failed
                }
            }
            return value;
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) {
            CHECKPOINTS.incrementAndGet();
        }
    }

    /** Count (map), sum (reducing), list size of each key, when the input has ended. */
    private static final class Totals extends KeyedProcessFunction<Long, Long, String> {
        private transient ReducingState<Long> sum;
        private transient ListState<Long> values;
        private transient MapState<Long, Long> distinct;

        @Override
        public void open(OpenContext context) {
            sum =
                    getRuntimeContext()
                            .getReducingState(
                                    new ReducingStateDescriptor<>("sum", Long::sum, Long.class));
            values =
                    getRuntimeContext()
                            .getListState(new ListStateDescriptor<>("values", Long.class));
            distinct =
                    getRuntimeContext()
                            .getMapState(
                                    new MapStateDescriptor<>("distinct", Long.class, Long.class));
        }

        @Override
        public void processElement(Long value, Context context, Collector<String> out)
                throws Exception {
            sum.add(value);
            values.add(value);
            distinct.put(value, value);
            context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
        }

        @Override
        public void onTimer(long timestamp, OnTimerContext context, Collector<String> out)
                throws Exception {
            int size = 0;
            for (Long ignored : values.get()) {
                size++;
            }
            int count = 0;
            for (Long ignored : distinct.keys()) {
                count++;
            }
            out.collect(format(context.getCurrentKey(), count, sum.get(), size));
        }

        static String format(long key, int count, long sum, int size) {
            return "key %d: %d distinct, sum %d, list of %d".formatted(key, count, sum, size);
        }
    }
}
