package io.afterbay.flink.state;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;

/** No entries. */
public enum EmptyCursor implements EntryCursor {
    INSTANCE;

    @Override
    public boolean next() {
        return false;
    }

    @Override
    public StateKey key() {
        throw new IllegalStateException("there is no entry");
    }

    @Override
    public Slice userKey() {
        throw new IllegalStateException("there is no entry");
    }

    @Override
    public Slice value() {
        throw new IllegalStateException("there is no entry");
    }

    @Override
    public ListReader list() {
        throw new IllegalStateException("there is no entry");
    }

    @Override
    public long timestamp() {
        throw new IllegalStateException("there is no entry");
    }

    @Override
    public void close() {}
}
