package io.afterbay.flink;

import io.afterbay.store.StateStore;
import io.afterbay.store.StoreOptions;
import java.io.Serializable;

/** Opens the store under a keyed backend; tests put other stores there. */
@FunctionalInterface
public interface StoreFactory extends Serializable {
    StateStore open(StoreOptions options);
}
