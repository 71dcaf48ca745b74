package io.afterbay.store;

import io.afterbay.store.paged.PagedStateStore;
import java.io.IOException;
import java.io.InputStream;

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

    /**
     * Opens a store with the content of an image. Pages are read from the image's files when they
     * are needed.
     *
     * @param options with the key groups of the image's store
     * @param index what {@link StoreSnapshot#image} has written
     * @throws StateStoreException if the index or a file cannot be read, or is damaged
     */
    public static StateStore open(StoreOptions options, InputStream index, ImageFiles files) {
        PagedStateStore store = new PagedStateStore(options);
        boolean loaded = false;
        try {
            store.load(index, files);
            loaded = true;
            return store;
        } catch (IOException e) {
            throw new StateStoreException(
                    "%s: cannot open the image: %s; restore from another checkpoint"
                            .formatted(options.name(), e.getMessage()),
                    e);
        } finally {
            if (!loaded) {
                store.close();
            }
        }
    }
}
