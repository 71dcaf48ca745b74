package io.afterbay.flink.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.LongForm;
import org.apache.flink.test.state.SavepointSwitchSuite;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The suites that {@link ContractSuitesTest} asserts to pass fail on a store that is wrong.
 * Otherwise their passing would say nothing.
 */
class NegativeControlTest {
    private static final String WINDOWS =
            "org.apache.flink.streaming.runtime.operators.windowing.WindowOperatorTest";
    private static final String EVICTING =
            "org.apache.flink.streaming.runtime.operators.windowing.EvictingWindowOperatorTest";

    /** Each fault, and each suite. */
    @ParameterizedTest(name = "{1} fails with {0}")
    @CsvSource({
        "LOSES_PUTS, MIGRATION",
        "LOSES_ELEMENTS, EVICTING_WINDOWS",
        "READ_REMOVES, SEMANTICS",
        "FORGETS_MERGED, STATE_BACKEND",
        "LOSES_TIMERS, WINDOWS",
        "KEEPS_REMOVED, OBJECTS",
        "STALE_SNAPSHOTS, TTL",
        "STALE_SNAPSHOTS, SAVEPOINT_SWITCH",
        "STALE_SNAPSHOTS, ISOLATION"
    })
    void fails(BrokenStores fault, Suite suite) throws Exception {
        SuiteRunner.Outcome[] outcome = new SuiteRunner.Outcome[1];
        BackendUnderTest.withStores(
                fault,
                () ->
                        outcome[0] =
                                Instrumentation.withHarnessOnOurs(
                                        () -> SuiteRunner.run(Class.forName(suite.type))));
        assertThat(outcome[0].failed()).as("failures of %s with %s", suite, fault).isNotEmpty();
        // Wrong results, not only a store that cannot even be used.
        assertThat(outcome[0].failed().values())
                .as(outcome[0].toString())
                .hasAtLeastOneElementOfType(AssertionError.class);
    }

    @ParameterizedTest(name = "{1} fails with {0}")
    @CsvSource({
        "LOSES_PUTS, STATE_BACKEND",
        "LOSES_PUTS, SAVEPOINT_SWITCH",
        "LOSES_ELEMENTS, STATE_BACKEND",
        "LOSES_ELEMENTS, SAVEPOINT_SWITCH",
        "READ_REMOVES, STATE_BACKEND",
        "FORGETS_MERGED, SEMANTICS",
        "LOSES_TIMERS, SAVEPOINT_SWITCH",
        "KEEPS_REMOVED, STATE_BACKEND",
        "KEEPS_REMOVED, SEMANTICS",
        "LOSES_PUTS, OBJECTS",
        "STALE_SNAPSHOTS, OBJECTS",
        "STALE_SNAPSHOTS, MIGRATION",
        "STALE_SNAPSHOTS, WINDOWS"
    })
    @LongForm
    void failsInMoreSuites(BrokenStores fault, Suite suite) throws Exception {
        fails(fault, suite);
    }

    enum Suite {
        STATE_BACKEND(StateBackendSuite.class.getName()),
        MIGRATION(MigrationSuite.class.getName()),
        TTL(TtlSuite.class.getName()),
        SAVEPOINT_SWITCH(SavepointSwitchSuite.class.getName()),
        WINDOWS(NegativeControlTest.WINDOWS),
        SEMANTICS("io.afterbay.flink.correctness.StateSemanticsTest"),
        ISOLATION("io.afterbay.flink.correctness.SnapshotIsolationTest"),
        OBJECTS("io.afterbay.flink.correctness.ObjectTierTest"),
        EVICTING_WINDOWS(NegativeControlTest.EVICTING);

        final String type;

        Suite(String type) {
            this.type = type;
        }
    }
}
