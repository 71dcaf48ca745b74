package io.afterbay.store;

/** Opens stores. */
public final class StateStores {
    private StateStores() {}

    /**
     * Opens an empty store.
     *
     * @throws StateStoreException if the directory cannot be made or the budget is below the
     *     minimum
     */
    public static StateStore open(StoreOptions options) {
        throw new StateStoreException("the paged store lands soon: " + options.name());
    }
}
