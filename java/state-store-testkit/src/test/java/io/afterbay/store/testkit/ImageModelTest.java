package io.afterbay.store.testkit;

import io.afterbay.store.StateStore;
import io.afterbay.store.StoreOptions;

/** An image has the content of its snapshot, whatever the store looked like. */
class ImageModelTest extends StateStoreModel {
    @Override
    protected StateStore open(StoreOptions options) {
        return new ImagedStore(options);
    }

    @Override
    protected long smallestBudgetBytes() {
        return 1 << 20;
    }
}
