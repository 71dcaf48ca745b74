package io.afterbay.edge.it;

import io.afterbay.testing.TestForm;
import net.jqwik.api.lifecycle.LifecycleContext;
import net.jqwik.api.lifecycle.SkipExecutionHook;

/** Skips a property in the normal form of the tests. */
final class OnlyInLongForm implements SkipExecutionHook {
    @Override
    public SkipResult shouldBeSkipped(LifecycleContext context) {
        return TestForm.IS_LONG
                ? SkipResult.doNotSkip()
                : SkipResult.skip("in the long form only: ./afterbay test --long");
    }
}
