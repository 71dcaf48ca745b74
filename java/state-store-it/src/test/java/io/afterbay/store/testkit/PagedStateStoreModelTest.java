package io.afterbay.store.testkit;

import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreOptions;

class PagedStateStoreModelTest extends StateStoreModel {
    @Override
    protected StateStore open(StoreOptions options) {
        return StateStores.open(options);
    }

    @Override
    protected long smallestBudgetBytes() {
        return 1 << 20;
    }
}
