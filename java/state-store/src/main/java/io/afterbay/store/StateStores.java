package io.afterbay.store;

import io.afterbay.store.paged.PagedStateStore;

/** Opens stores. */
public final class StateStores {
    private StateStores() {}

    /**
     * Opens an empty store. The calling thread becomes its owner.
     *
     * @throws StateStoreException if the directory cannot be made or the budget is below the
     *     minimum
     */
    public static StateStore open(StoreOptions options) {
        return new PagedStateStore(options);
    }
}
