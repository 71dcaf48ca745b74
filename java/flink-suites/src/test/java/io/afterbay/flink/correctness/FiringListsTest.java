package io.afterbay.flink.correctness;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.flink.AfterbayOptions;
import io.afterbay.flink.AfterbayStateBackend;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreOptions;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.operators.KeyedProcessOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.Test;

/** Lists that exceed memory are read before their timers fire, wherever an operator has them. */
class FiringListsTest {
    private static final int KEYS = 1500;
    private static final int ROUNDS = 60;
    private static final int STEP_MILLIS = 10;

    /** The harness copies the backend, so it cannot be a field. */
    private static final List<StateStore> STORES = new ArrayList<>();

    /** What one run had, and what it read while its timers fired. */
    private record Run(List<String> output, long pageFaults, long pagesReadAhead) {}

    /** The list is under the window with which a session began, its timer has the last one. */
    @Test
    void ofSessions() throws Exception {
        assertReadAhead(WindowScenario.SESSIONS::listOperator);
    }

    @Test
    void ofProcessFunctions() throws Exception {
        assertReadAhead(() -> new KeyedProcessOperator<>(new Gather()));
    }

    private interface Operators {
        OneInputStreamOperator<Tuple2<String, Long>, String> create();
    }

    private static void assertReadAhead(Operators operators) throws Exception {
        Run alone = run(operators.create(), 0);
        Run together = run(operators.create(), 4);

        assertThat(together.output).hasSize(KEYS).isEqualTo(alone.output);
        assertThat(alone.pagesReadAhead).isZero();
        assertThat(alone.pageFaults).isGreaterThan(5 * KEYS);
        assertThat(together.pagesReadAhead).isGreaterThan(5 * KEYS);
        assertThat(together.pageFaults).isLessThan(alone.pageFaults / 2);
    }

    private static Run run(
            OneInputStreamOperator<Tuple2<String, Long>, String> operator, int readThreads)
            throws Exception {
        STORES.clear();
        try (var harness = harness(operator, readThreads)) {
            harness.open();
            long now = feed(harness);
            StateStore store = STORES.get(STORES.size() - 1);
            long faults = store.stats().pageFaults();
            for (long end = now + 200; now < end; now += STEP_MILLIS) {
                harness.processWatermark(now);
            }
            return new Run(
                    harness.extractOutputValues(),
                    store.stats().pageFaults() - faults,
                    store.stats().pagesReadAhead());
        }
    }

    /** Each key gets an element in each round; returns the time of the last. */
    private static long feed(
            KeyedOneInputStreamOperatorTestHarness<String, Tuple2<String, Long>, String> harness)
            throws Exception {
        long time = 0;
        for (int round = 0; round < ROUNDS; round++) {
            for (int key = 0; key < KEYS; key++) {
                time = STEP_MILLIS * round + key % 7;
                harness.processElement(Tuple2.of("key " + key + "-".repeat(60), time), time);
            }
        }
        return time;
    }

    private static KeyedOneInputStreamOperatorTestHarness<String, Tuple2<String, Long>, String>
            harness(OneInputStreamOperator<Tuple2<String, Long>, String> operator, int readThreads)
                    throws Exception {
        var harness =
                new KeyedOneInputStreamOperatorTestHarness<>(
                        operator,
                        (Tuple2<String, Long> element) -> element.f0,
                        TypeInformation.of(String.class),
                        16,
                        1,
                        0);
        Configuration config = new Configuration();
        config.set(AfterbayOptions.MANAGED_MEMORY, false);
        config.set(AfterbayOptions.FIXED_MEMORY_PER_SLOT, MemorySize.ofMebiBytes(4));
        config.set(AfterbayOptions.READ_THREADS, readThreads);
        harness.setStateBackend(
                new AfterbayStateBackend()
                        .configure(config, FiringListsTest.class.getClassLoader())
                        .withStores(FiringListsTest::open));
        harness.setup(
                Types.STRING.createSerializer(harness.getExecutionConfig().getSerializerConfig()));
        return harness;
    }

    private static StateStore open(StoreOptions options) {
        StateStore store = StateStores.open(options);
        STORES.add(store);
        return store;
    }

    /** Says how many elements a key has 100 ms after the last of all. */
    private static final class Gather
            extends KeyedProcessFunction<String, Tuple2<String, Long>, String> {
        private static final long serialVersionUID = 1L;
        private static final long FIRST = STEP_MILLIS * (ROUNDS + 10L);

        private transient ListState<Tuple2<String, Long>> elements;

        @Override
        public void open(OpenContext context) {
            elements =
                    getRuntimeContext()
                            .getListState(
                                    new ListStateDescriptor<>("elements", WindowScenario.INPUT));
        }

        @Override
        public void processElement(
                Tuple2<String, Long> element, Context context, Collector<String> out)
                throws Exception {
            elements.add(element);
            context.timerService()
                    .registerEventTimeTimer(FIRST + Math.floorMod(element.f0.hashCode(), 50));
        }

        @Override
        public void onTimer(long timestamp, OnTimerContext context, Collector<String> out)
                throws Exception {
            int count = 0;
            for (Tuple2<String, Long> element : elements.get()) {
                count += element.f1 >= 0 ? 1 : 0;
            }
            out.collect(context.getCurrentKey() + count);
            elements.clear();
        }
    }
}
