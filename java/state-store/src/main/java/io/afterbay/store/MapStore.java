package io.afterbay.store;

/**
 * Entries by user key, per key and namespace. A value may be empty; null values are the caller's to
 * encode. See {@link StateStore} for threads.
 */
public interface MapStore {
    boolean get(StateKey key, byte[] userKey, int length, Slice into);

    boolean contains(StateKey key, byte[] userKey, int length);

    void put(StateKey key, byte[] userKey, int userKeyLength, byte[] value, int offset, int length);

    /** Whether the entry existed. */
    boolean remove(StateKey key, byte[] userKey, int length);

    /**
     * The entries of one key and namespace, without touching those of others. Changes meanwhile,
     * removals of the entry just returned included, are allowed: each entry that exists throughout
     * is seen exactly once. The cursor holds nothing and may be abandoned without closing it.
     *
     * <p>User keys of one length of up to 8 bytes (numbers, as a rule) should come in order of
     * their bytes, unsigned: jobs have come to rely on it. There is no order otherwise.
     */
    EntryCursor entries(StateKey key);

    boolean isEmpty(StateKey key);

    /** Removes all entries of the key and namespace. */
    void clear(StateKey key);

    /**
     * As {@link ValueStore#scan}; the entries of one key and namespace come one after the other.
     */
    EntryCursor scan(int firstKeyGroup, int lastKeyGroup);
}
