package io.afterbay.store.testkit;

import io.afterbay.store.StateStore;
import io.afterbay.store.StoreOptions;
import io.afterbay.testing.TestForm;
import java.io.IOException;
import java.util.List;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;

/**
 * Copies of a store that know it only by its redo log, or by an image, have its content, whatever
 * it looked like.
 */
class CopiesModelTest extends StateStoreModel {
    /** Either, by the budget of the run, so that a failing run can be repeated. */
    @Override
    protected StateStore open(StoreOptions options) {
        boolean isOdd = options.budget().totalBytes() / smallestBudgetBytes() % 2 == 1;
        return isOdd ? new ImagedStore(options) : new StandbyStore(options);
    }

    @Override
    protected long smallestBudgetBytes() {
        return 1 << 20;
    }

    /** Fewer tries than of a store by itself: each makes some copies. */
    @Override
    @Property(
            tries = TestForm.COPIES_MODEL_TRIES,
            seed = TestForm.SEED,
            edgeCases = EdgeCasesMode.NONE,
            shrinking = ShrinkingMode.BOUNDED)
    void agreesWithTheModel(@ForAll("setups") Setup setup, @ForAll("steps") List<Step> steps)
            throws IOException {
        super.agreesWithTheModel(setup, steps);
    }
}
