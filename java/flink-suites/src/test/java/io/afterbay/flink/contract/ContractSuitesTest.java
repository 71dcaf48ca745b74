package io.afterbay.flink.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.LongForm;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.test.state.SavepointSwitchSuite;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Flink 2.3.0's own suites on our backend: every test of them, none overridden, none skipped, and
 * their number asserted, because a suite that is not found passes too.
 */
class ContractSuitesTest {
    private static final String WINDOWING =
            "org.apache.flink.streaming.runtime.operators.windowing.";

    @Test
    void stateBackend() throws Exception {
        assertAllSucceed(StateBackendSuite.class, 71);
    }

    @Test
    @DisplayName("stateBackend, checkpoints in files")
    void stateBackendOnFiles() throws Exception {
        assertAllSucceed(StateBackendOnFilesSuite.class, 71);
    }

    @Test
    @DisplayName("stateBackend, incremental checkpoints")
    void stateBackendIncremental() throws Exception {
        assertAllSucceed(StateBackendIncrementalSuite.class, 71);
    }

    @Test
    @DisplayName("stateBackend, few objects on the heap")
    void stateBackendWithFewObjects() throws Exception {
        assertAllSucceed(StateBackendFewObjectsSuite.class, 71);
    }

    @Test
    @DisplayName("stateBackend, objects on the heap")
    void stateBackendWithObjects() throws Exception {
        assertAllSucceed(StateBackendObjectsSuite.class, 71);
    }

    @Test
    void migration() throws Exception {
        assertAllSucceed(MigrationSuite.class, 32);
    }

    @Test
    @DisplayName("migration, incremental checkpoints")
    void migrationIncremental() throws Exception {
        assertAllSucceed(MigrationIncrementalSuite.class, 32);
    }

    /**
     * 16 tests of 9 kinds of state, 132 of which apply: only a ValueState can be set to null, and
     * only merging states can be merged. The suite says so by assumptions, for every backend.
     */
    @Test
    void ttl() throws Exception {
        assertTtlSucceeds(TtlSuite.class);
    }

    @Test
    @LongForm
    @DisplayName("ttl, few objects on the heap")
    void ttlWithFewObjects() throws Exception {
        assertTtlSucceeds(TtlFewObjectsSuite.class);
    }

    private static void assertTtlSucceeds(Class<?> suite) throws Exception {
        SuiteRunner.Outcome outcome = runOnOurs(suite);
        assertThat(outcome.failed()).as(outcome.toString()).isEmpty();
        assertThat(outcome.skipped()).as(outcome.toString()).isEmpty();
        assertThat(outcome.succeeded()).as(outcome.toString()).hasSize(132);
        assertThat(outcome.aborted()).as(outcome.toString()).hasSize(12);
        assertThat(outcome.aborted())
                .allMatch(
                        name ->
                                name.startsWith("testValueSetNull")
                                        || name.startsWith("testMergeNamespaces"));
    }

    @Test
    void savepointSwitch() throws Exception {
        assertAllSucceed(SavepointSwitchSuite.class, 7);
    }

    /** The operators' harness is told to use ours, see {@link Instrumentation}. */
    @ParameterizedTest
    @CsvSource({
        "WindowOperatorTest, 52",
        "EvictingWindowOperatorTest, 18",
        "RegularWindowOperatorContractTest, 70",
        "EvictingWindowOperatorContractTest, 69"
    })
    void windowOperators(String suite, int tests) throws Exception {
        assertAllSucceed(Class.forName(WINDOWING + suite), tests);
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                StateBackendSuite.class,
                StateBackendOnFilesSuite.class,
                StateBackendIncrementalSuite.class,
                StateBackendFewObjectsSuite.class,
                StateBackendObjectsSuite.class,
                MigrationSuite.class,
                MigrationIncrementalSuite.class,
                TtlSuite.class,
                TtlFewObjectsSuite.class,
                SavepointSwitchSuite.class
            })
    void noTestIsOverridden(Class<?> suite) {
        List<String> overridden = new ArrayList<>();
        for (Class<?> type = suite; isOurs(type); type = type.getSuperclass()) {
            Arrays.stream(type.getDeclaredMethods())
                    .filter(m -> !m.isSynthetic() && !Modifier.isStatic(m.getModifiers()))
                    .map(Method::getName)
                    .filter(name -> !HOOKS.contains(name))
                    .forEach(overridden::add);
        }
        assertThat(overridden).as("methods that are not hooks of the suite").isEmpty();
    }

    /** What Flink's suites ask a subclass to provide. */
    private static final List<String> HOOKS =
            List.of(
                    "getStateBackend",
                    "getCheckpointStorage",
                    "isSerializerPresenceRequiredOnRestore",
                    "supportsAsynchronousSnapshots",
                    "isSafeToReuseKVState",
                    "createStateBackendTestContext",
                    "backend",
                    "incrementalCleanupSupported");

    private static boolean isOurs(Class<?> type) {
        return type.getName().startsWith("io.afterbay") || type == SavepointSwitchSuite.class;
    }

    private static void assertAllSucceed(Class<?> suite, int tests) throws Exception {
        SuiteRunner.Outcome outcome = runOnOurs(suite);
        assertThat(outcome.failed()).as(outcome.toString()).isEmpty();
        assertThat(outcome.skipped()).as(outcome.toString()).isEmpty();
        assertThat(outcome.aborted()).as(outcome.toString()).isEmpty();
        assertThat(outcome.succeeded()).as(outcome.toString()).hasSize(tests);
    }

    private static SuiteRunner.Outcome runOnOurs(Class<?> suite) throws Exception {
        int before = Instrumentation.created();
        SuiteRunner.Outcome outcome =
                Instrumentation.withHarnessOnOurs(() -> SuiteRunner.run(suite));
        assertThat(Instrumentation.created() - before)
                .as("keyed backends of ours that %s created", suite.getSimpleName())
                .isGreaterThanOrEqualTo(outcome.succeeded().size());
        return outcome;
    }
}
