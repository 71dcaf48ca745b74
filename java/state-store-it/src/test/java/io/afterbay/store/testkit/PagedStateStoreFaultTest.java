package io.afterbay.store.testkit;

import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.page.Memory;

class PagedStateStoreFaultTest extends StateStoreFaultContract {
    @Override
    protected StateStore open(StoreOptions options) {
        return StateStores.open(options);
    }

    @Override
    protected long smallestBudgetBytes() {
        return 1 << 20;
    }

    @Override
    protected long allocatedBytes() {
        return Memory.allocatedBytes();
    }
}
