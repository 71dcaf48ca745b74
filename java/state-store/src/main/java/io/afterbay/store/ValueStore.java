package io.afterbay.store;

/**
 * One value per key and namespace: the read-modify-write pattern. See {@link StateStore} for
 * threads.
 */
public interface ValueStore {
    /** Copies the value into {@code into}; false, and {@code into} unchanged, if there is none. */
    boolean get(StateKey key, Slice into);

    void put(StateKey key, byte[] value, int offset, int length);

    /** Whether there was a value. */
    boolean remove(StateKey key);

    /**
     * All entries of key groups {@code first..last} (inclusive), in order of key group. The owner
     * may change the state while it iterates: each entry that exists throughout is seen exactly
     * once.
     */
    EntryCursor scan(int firstKeyGroup, int lastKeyGroup);
}
