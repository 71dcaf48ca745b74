package io.afterbay.store.testkit;

import net.jqwik.api.lifecycle.LifecycleContext;
import net.jqwik.api.lifecycle.SkipExecutionHook;

/** Skips a property unless the system property {@code afterbay.long} is true. */
final class OnlyInLongRuns implements SkipExecutionHook {
    @Override
    public SkipResult shouldBeSkipped(LifecycleContext context) {
        return Boolean.getBoolean("afterbay.long")
                ? SkipResult.doNotSkip()
                : SkipResult.skip("takes long: add -Dafterbay.long=true");
    }
}
