package io.afterbay.flink.correctness;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.flink.contract.BackendUnderTest;
import io.afterbay.flink.contract.Instrumentation;
import io.afterbay.testing.TestForm;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.execution.RecoveryClaimMode;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.SharedStateRegistry;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.InternalTimeServiceManager;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Window operators on our backend emit what they emit on HashMap's, over random input with
 * snapshots and restores in between, and leave nothing behind.
 */
class WindowsTest {
    private static final int STEPS = 900;
    private static final int KEYS = 25;
    private static final int KEY_GROUPS = 16;

    /** Without it the harness counts entries of HashMap's backend only. */
    @BeforeAll
    static void letTheHarnessCountOurEntries() {
        Instrumentation.install();
    }

    @ParameterizedTest
    @EnumSource
    void listsAreAsHashMaps(WindowScenario scenario) throws Exception {
        for (long seed = 1; seed <= TestForm.WINDOW_SEEDS; seed++) {
            assertSame(scenario, false, seed);
        }
    }

    @ParameterizedTest
    @EnumSource
    void sumsAreAsHashMaps(WindowScenario scenario) throws Exception {
        if (!scenario.hasEvictor()) {
            assertSame(scenario, true, 4);
        }
    }

    private static void assertSame(WindowScenario scenario, boolean sums, long seed)
            throws Exception {
        List<String> expected = new Run(new HashMapStateBackend(), scenario, sums, seed).outputs();
        List<String> actual = new Run(BackendUnderTest.create(), scenario, sums, seed).outputs();
        assertThat(expected).hasSizeGreaterThan(30);
        assertThat(actual).as("seed %d", seed).isEqualTo(expected);
    }

    /** One operator and its input; the same for every backend. */
    private static final class Run {
        private final StateBackend backend;
        private final WindowScenario scenario;
        private final boolean sums;
        private final Random random;
        private final List<String> outputs = new ArrayList<>();
        private KeyedOneInputStreamOperatorTestHarness<String, Tuple2<String, Long>, String>
                harness;
        private long time;

        Run(StateBackend backend, WindowScenario scenario, boolean sums, long seed) {
            this.backend = backend;
            this.scenario = scenario;
            this.sums = sums;
            this.random = new Random(seed);
        }

        /**
         * Outputs between two watermarks are sorted: the order of timers of one timestamp is free.
         * The last line says what is left of state and timers when all windows are over.
         */
        List<String> outputs() throws Exception {
            open(null);
            for (int step = 0; step < STEPS; step++) {
                step();
            }
            watermark(Long.MAX_VALUE);
            outputs.add(
                    "left: %d entries, %d timers"
                            .formatted(
                                    harness.numKeyedStateEntries(), harness.numEventTimeTimers()));
            harness.close();
            return outputs;
        }

        private void step() throws Exception {
            switch (random.nextInt(50)) {
                case 0, 1, 2 -> watermark(time - random.nextInt(80));
                case 3 -> snapshotAndRestore();
                default -> element();
            }
        }

        private void element() throws Exception {
            time += random.nextInt(6);
            long timestamp = Math.max(0, time - random.nextInt(150));
            harness.processElement(
                    Tuple2.of("key" + random.nextInt(KEYS), random.nextLong(1000)), timestamp);
        }

        private void watermark(long timestamp) throws Exception {
            harness.processWatermark(timestamp);
            takeOutputs();
        }

        private void takeOutputs() {
            outputs.addAll(harness.extractOutputValues().stream().sorted().toList());
            harness.getOutput().clear();
        }

        private void snapshotAndRestore() throws Exception {
            takeOutputs();
            OperatorSubtaskState state = harness.snapshot(1, 1);
            harness.close();
            open(state);
        }

        private void open(OperatorSubtaskState state) throws Exception {
            harness = harness(backend, sums ? scenario.sumOperator() : scenario.listOperator());
            if (state != null) {
                harness.initializeState(state);
            }
            harness.open();
        }
    }

    private static KeyedOneInputStreamOperatorTestHarness<String, Tuple2<String, Long>, String>
            harness(
                    StateBackend backend,
                    OneInputStreamOperator<Tuple2<String, Long>, String> operator)
                    throws Exception {
        var harness =
                new KeyedOneInputStreamOperatorTestHarness<>(
                        operator,
                        (Tuple2<String, Long> element) -> element.f0,
                        TypeInformation.of(String.class),
                        KEY_GROUPS,
                        1,
                        0);
        harness.setStateBackend(backend);
        harness.setup(
                TypeInformation.of(String.class)
                        .createSerializer(harness.getExecutionConfig().getSerializerConfig()));
        return harness;
    }

    /**
     * An unaligned checkpoint comes in while one watermark fires thousands of windows, of which
     * some have been fired and cleared, some have been read ahead, and all others wait.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCheckpointCutsAFiringBurst(boolean isIncremental) throws Exception {
        int keys = 2000;
        List<String> all = new ArrayList<>();
        var harness = harness(backend(isIncremental), WindowScenario.TUMBLING.listOperator());
        harness.open();
        SharedStateRegistry files =
                SharedStateRegistry.DEFAULT_FACTORY.create(
                        Runnable::run, List.of(), RecoveryClaimMode.CLAIM);
        for (long i = 0; i < 3L * keys; i++) {
            harness.processElement(Tuple2.of("key" + i % keys, i), i % 100);
            if (i == 2L * keys) {
                harness.snapshot(1, 1).registerSharedStates(files, 1);
                harness.notifyOfCompletedCheckpoint(1);
            }
        }
        int[] calls = {0};
        boolean finished =
                timeService(harness)
                        .tryAdvanceWatermark(new Watermark(1000), () -> ++calls[0] > keys / 2);
        assertThat(finished).isFalse();
        all.addAll(harness.extractOutputValues());
        assertThat(all).hasSizeBetween(keys / 4, keys * 3 / 4);
        OperatorSubtaskState state = harness.snapshot(2, 2);
        assertThat(state.getCheckpointedSize() < state.getStateSize())
                .as("refers to files of the first checkpoint")
                .isEqualTo(isIncremental);
        state.registerSharedStates(files, 2);
        harness.close();

        var restored = harness(backend(isIncremental), WindowScenario.TUMBLING.listOperator());
        restored.initializeState(state);
        restored.open();
        restored.processWatermark(1000);
        all.addAll(restored.extractOutputValues());
        assertThat(restored.numKeyedStateEntries()).isZero();
        restored.close();
        List<String> expected = new ArrayList<>();
        for (long i = 0; i < keys; i++) {
            expected.add(
                    "key%d TimeWindow{start=0, end=100}: %d %d %d"
                            .formatted(i, i, i + keys, i + 2L * keys));
        }
        assertThat(all).containsExactlyInAnyOrderElementsOf(expected);
    }

    private static StateBackend backend(boolean isIncremental) {
        return isIncremental ? BackendUnderTest.createIncremental() : BackendUnderTest.create();
    }

    private static InternalTimeServiceManager<?> timeService(
            KeyedOneInputStreamOperatorTestHarness<?, ?, ?> harness) throws Exception {
        Field field = AbstractStreamOperator.class.getDeclaredField("timeServiceManager");
        field.setAccessible(true);
        return (InternalTimeServiceManager<?>) field.get(harness.getOperator());
    }

    /**
     * Timers of one timestamp fire key group by key group, so that a window's file is read in
     * order.
     */
    @Test
    void timersOfOneTimestampFireByKeyGroup() throws Exception {
        var harness = harness(BackendUnderTest.create(), WindowScenario.TUMBLING.listOperator());
        harness.open();
        for (long i = 0; i < 1000; i++) {
            harness.processElement(Tuple2.of("key" + i, i), 5);
        }
        harness.processWatermark(100);
        List<Integer> keyGroups =
                harness.extractOutputValues().stream()
                        .map(line -> line.substring(0, line.indexOf(' ')))
                        .map(
                                key ->
                                        org.apache.flink.runtime.state.KeyGroupRangeAssignment
                                                .assignToKeyGroup(key, KEY_GROUPS))
                        .toList();
        assertThat(keyGroups).hasSize(1000).isSorted();
        harness.close();
    }
}
