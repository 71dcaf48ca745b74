package io.afterbay.store.testkit;

import io.afterbay.store.StateStore;

/** A store and the model of what it must hold, with the keys in use. */
record Twin(StateStore store, ReferenceStore model, Keyspace keys, int bulkBytes) {
    /**
     * How many entries of a size make a bulk step: enough for memory to run out after a few of
     * them.
     */
    int bulkCount(int size) {
        return Math.max(1, Math.min(3000, bulkBytes / (size + 50)));
    }

    void close() {
        store.close();
        model.close();
    }
}
