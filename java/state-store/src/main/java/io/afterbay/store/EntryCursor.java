package io.afterbay.store;

/**
 * Walks entries: {@link #next} moves to the first, then to each following one. What the accessors
 * return is valid until the next move. Close it.
 */
public interface EntryCursor extends AutoCloseable {
    boolean next();

    /** Key group, key and namespace of the entry; a copy that is overwritten by the next move. */
    StateKey key();

    /** The user key; of map entries only. */
    Slice userKey();

    /** The value; of value and map entries only. */
    Slice value();

    /** The elements; of list entries only. Never empty. */
    ListReader list();

    /** The timestamp; of triggers only. */
    long timestamp();

    @Override
    void close();
}
