package io.afterbay.flink.state;

import io.afterbay.maintenance.LongTasks;
import io.afterbay.store.ImageFiles;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.LocalFiles;
import java.io.InputStream;
import java.io.Serializable;

/** Opens the store under a keyed backend; tests put other stores, and other files, there. */
@FunctionalInterface
public interface StoreFactory extends Serializable {
    /** See {@link StateStores#open(StoreOptions)}. */
    StateStore open(StoreOptions options);

    /** See {@link StateStores#open(StoreOptions, InputStream, ImageFiles)}. */
    default StateStore open(StoreOptions options, InputStream index, ImageFiles files) {
        return StateStores.open(options, index, files);
    }

    /** Among which a backend has those of its own. */
    default LongTasks longTasks() {
        return LongTasks.ofProcess();
    }

    /** Where the store, and all else that the backend keeps on this machine, has its files. */
    default LocalFiles files() {
        return LocalFiles.system();
    }
}
