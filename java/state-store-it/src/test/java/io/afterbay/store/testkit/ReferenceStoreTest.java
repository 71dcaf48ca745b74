package io.afterbay.store.testkit;

import io.afterbay.store.StateStore;
import io.afterbay.store.StoreOptions;

class ReferenceStoreTest extends StateStoreContract {
    @Override
    protected StateStore open(StoreOptions options) {
        return new ReferenceStore(options);
    }
}
