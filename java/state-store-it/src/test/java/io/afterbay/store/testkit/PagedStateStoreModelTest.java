package io.afterbay.store.testkit;

import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreOptions;
import io.afterbay.testing.TestForm;
import java.io.IOException;
import java.util.List;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.PropagationMode;

class PagedStateStoreModelTest extends StateStoreModel {
    @Override
    protected StateStore open(StoreOptions options) {
        return StateStores.open(options);
    }

    @Override
    protected long smallestBudgetBytes() {
        return 1 << 20;
    }

    @Property(
            tries = TestForm.MODEL_TRIES_LONG,
            edgeCases = EdgeCasesMode.NONE,
            shrinking = ShrinkingMode.BOUNDED)
    @AddLifecycleHook(value = OnlyInLongRuns.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
    void agreesWithTheModelInManyTries(
            @ForAll("setups") Setup setup, @ForAll("steps") List<Step> steps) throws IOException {
        run(setup, steps);
    }
}
