package io.afterbay.store.testkit;

import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreOptions;

class PagedStateStoreTest extends StateStoreContract {
    @Override
    protected StateStore open(StoreOptions options) {
        return StateStores.open(options);
    }
}
