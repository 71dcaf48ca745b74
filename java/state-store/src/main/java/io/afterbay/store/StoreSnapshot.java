package io.afterbay.store;

/**
 * The content of a store at one moment. Read by one thread, any, at the same time as the owner
 * works on; closed by any thread, once reading has ended.
 */
public interface StoreSnapshot extends AutoCloseable {
    /**
     * The entries of one state in one key group; empty for a name that did not exist. Each list
     * comes as one entry.
     */
    EntryCursor entries(String state, int keyGroup);

    /**
     * As {@link #entries}, cheaper: a list may come in several entries, whose concatenation in the
     * order in which they come is the list.
     */
    EntryCursor fragments(String state, int keyGroup);

    /** Idempotent. */
    @Override
    void close();
}
