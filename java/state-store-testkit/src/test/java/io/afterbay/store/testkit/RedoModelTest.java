package io.afterbay.store.testkit;

import io.afterbay.store.StateStore;
import io.afterbay.store.StoreOptions;

/** The redo log carries every change, in an order that gives the same content. */
class RedoModelTest extends StateStoreModel {
    @Override
    protected StateStore open(StoreOptions options) {
        return new StandbyStore(options);
    }

    @Override
    protected long smallestBudgetBytes() {
        return 1 << 20;
    }
}
