package io.afterbay.flink.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectUniqueId;

import io.afterbay.testing.LongForm;
import org.apache.flink.test.checkpointing.WindowCheckpointingSuite;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Flink's {@code EventTimeWindowCheckpointingITCase}: windows of every kind under checkpoints each
 * 100 ms and a failure in mid-run, each window checked, on a MiniCluster.
 *
 * <p>The case repeats itself for six backends; here one repetition, told by its index, runs on
 * ours. The source sleeps 10 ms per element of a key, so the normal form has a fifth of the
 * elements in windows of a fifth of the size; the long form runs it as it is.
 */
class WindowCheckpointingTest {
    private static final int JOB_MANAGER_STORAGE = 1;
    private static final int INCREMENTAL_FILES = 4;

    /** Four subtasks before the failure and four after it. */
    private static final int BACKENDS_CREATED = 8;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "testTumblingTimeWindow",
                "testTumblingTimeWindowWithKVStateMinMaxParallelism",
                "testTumblingTimeWindowWithKVStateMaxMaxParallelism",
                "testSlidingTimeWindow",
                "testPreAggregatedTumblingTimeWindow",
                "testPreAggregatedSlidingTimeWindow"
            })
    void aTwentiethOfTheSize(String test) throws Exception {
        Instrumentation.withWindowCaseDividedBy(20, () -> run(test, INCREMENTAL_FILES));
    }

    @LongForm
    @ParameterizedTest
    @CsvSource({
        "testTumblingTimeWindow, 1",
        "testTumblingTimeWindow, 4",
        "testTumblingTimeWindowWithKVStateMinMaxParallelism, 1",
        "testTumblingTimeWindowWithKVStateMinMaxParallelism, 4",
        "testTumblingTimeWindowWithKVStateMaxMaxParallelism, 1",
        "testTumblingTimeWindowWithKVStateMaxMaxParallelism, 4",
        "testSlidingTimeWindow, 1",
        "testSlidingTimeWindow, 4",
        "testPreAggregatedTumblingTimeWindow, 1",
        "testPreAggregatedTumblingTimeWindow, 4",
        "testPreAggregatedSlidingTimeWindow, 1",
        "testPreAggregatedSlidingTimeWindow, 4"
    })
    void asItIs(String test, int repetition) throws Exception {
        assertThat(repetition).isIn(JOB_MANAGER_STORAGE, INCREMENTAL_FILES);
        run(test, repetition);
    }

    private static Void run(String test, int repetition) {
        int before = Instrumentation.created();
        SuiteRunner.Outcome outcome =
                SuiteRunner.run(
                        selectUniqueId(
                                "[engine:junit-jupiter]/[class:%s]/[test-template:%s()]/[test-template-invocation:#%d]"
                                        .formatted(
                                                WindowCheckpointingSuite.class.getName(),
                                                test,
                                                repetition)));
        assertThat(outcome.failed()).as(outcome.toString()).isEmpty();
        assertThat(outcome.succeeded()).as(outcome.toString()).hasSize(1);
        assertThat(Instrumentation.created() - before).isGreaterThanOrEqualTo(BACKENDS_CREATED);
        return null;
    }
}
