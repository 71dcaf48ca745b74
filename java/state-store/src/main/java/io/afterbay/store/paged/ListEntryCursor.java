package io.afterbay.store.paged;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.Slice;

/** Entries of lists only. */
abstract class ListEntryCursor implements EntryCursor {
    @Override
    public Slice userKey() {
        throw new IllegalStateException("entries of lists have no user key");
    }

    @Override
    public Slice value() {
        throw new IllegalStateException("entries of lists have elements, not a value");
    }

    @Override
    public long timestamp() {
        throw new IllegalStateException("entries of lists have no timestamp");
    }

    @Override
    public void close() {}
}
