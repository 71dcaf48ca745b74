package io.afterbay.store.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.afterbay.store.StateStore;
import io.afterbay.store.StoreOptions;
import io.afterbay.testing.LongForm;
import io.afterbay.testing.TestForm;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import org.junit.jupiter.api.MethodDescriptor;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.MethodOrdererContext;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * Runs the contract and the model on defective stores: each must find each defect, the model all of
 * them in the long form.
 */
class NegativeControlTest {
    private static final int EVERY = 3;
    private static Defect defect = Defect.NONE;
    private static boolean failed;

    @ParameterizedTest
    @EnumSource
    void contractFindsTheDefect(Defect candidate, @TempDir Path scratch) {
        check(candidate, run(candidate, BrokenContract.class, scratch));
    }

    /** One of each shape of state; the contract above has found the others. */
    @ParameterizedTest
    @EnumSource(names = {"DROPS_APPENDS", "DROPS_PUTS", "SKIPS_MAP_ENTRIES", "FIRES_TWICE"})
    void modelFindsTheDefect(Defect candidate, @TempDir Path scratch) {
        check(candidate, run(candidate, BrokenModel.class, scratch));
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"NONE", "DROPS_APPENDS", "DROPS_PUTS", "SKIPS_MAP_ENTRIES", "FIRES_TWICE"})
    @LongForm // and that it finds nothing where there is NONE is what ReferenceStoreModelTest shows
    void modelFindsTheOthersToo(Defect candidate, @TempDir Path scratch) {
        check(candidate, run(candidate, BrokenModel.class, scratch));
    }

    private static void check(Defect candidate, TestExecutionSummary summary) {
        assertThat(summary.getTestsFoundCount()).as("tests found").isPositive();
        if (candidate == Defect.NONE) {
            assertThat(summary.getFailures()).isEmpty();
            assertThat(summary.getTestsSucceededCount()).isPositive();
        } else {
            assertThat(summary.getTestsFailedCount()).as("tests that found it").isPositive();
        }
    }

    private static TestExecutionSummary run(Defect candidate, Class<?> suite, Path scratch) {
        defect = candidate;
        failed = false;
        SummaryGeneratingListener summary = new SummaryGeneratingListener();
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(List.of(selectClass(suite)))
                                .configurationParameter(
                                        "jqwik.database", scratch.resolve("jqwik").toString())
                                .configurationParameter("jqwik.shrinking.bounded.seconds", "1")
                                .configurationParameter("jqwik.reporting.onlyfailures", "true")
                                .build(),
                        summary);
        return summary.getSummary();
    }

    private static StateStore openBroken(StoreOptions options) {
        return new BrokenStore(new ReferenceStore(options), options, defect, EVERY);
    }

    /** Not found by the build: only the tests above run it. */
    @ExtendWith(StopAtFirstFailure.class)
    @TestMethodOrder(LargeTestsLast.class)
    static class BrokenContract extends StateStoreContract {
        @Override
        protected StateStore open(StoreOptions options) {
            return openBroken(options);
        }

        @Override
        protected long budgetBytes() {
            return 1 << 20;
        }
    }

    /** Not found by the build: only the tests above run it. */
    static class BrokenModel extends StateStoreModel {
        @Override
        protected StateStore open(StoreOptions options) {
            return openBroken(options);
        }

        @Override
        protected long smallestBudgetBytes() {
            return 1 << 16;
        }

        /** One failure is a proof, whatever its length. */
        @Override
        @Property(
                tries = TestForm.CONTROL_TRIES,
                seed = TestForm.SEED,
                edgeCases = EdgeCasesMode.NONE,
                shrinking = ShrinkingMode.OFF)
        void agreesWithTheModel(@ForAll("setups") Setup setup, @ForAll("steps") List<Step> steps)
                throws IOException {
            super.agreesWithTheModel(setup, steps);
        }
    }

    /** Small tests find each defect as well as those that fill a store beyond its budget. */
    static class LargeTestsLast implements MethodOrderer {
        private static final String LARGE = "FourTimesTheBudget";

        @Override
        public void orderMethods(MethodOrdererContext context) {
            context.getMethodDescriptors().sort(Comparator.comparing(LargeTestsLast::isLarge));
        }

        private static boolean isLarge(MethodDescriptor test) {
            return test.getMethod().getName().contains(LARGE);
        }
    }

    /** One failure is a proof; the rest of the suite would only take time. */
    static class StopAtFirstFailure implements ExecutionCondition, TestWatcher {
        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            return failed
                    ? ConditionEvaluationResult.disabled("the defect was found")
                    : ConditionEvaluationResult.enabled("the defect was not found yet");
        }

        @Override
        public void testFailed(ExtensionContext context, Throwable cause) {
            failed = true;
        }
    }
}
