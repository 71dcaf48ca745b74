package io.afterbay.store.testkit;

import io.afterbay.store.StateStore;
import io.afterbay.store.StoreOptions;

/** The model against itself: shows that the steps are legal and deterministic. */
class ReferenceStoreModelTest extends StateStoreModel {
    @Override
    protected StateStore open(StoreOptions options) {
        return new ReferenceStore(options);
    }

    @Override
    protected long smallestBudgetBytes() {
        return 1 << 18;
    }
}
