package io.afterbay.store;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A list of elements per key and namespace, made by appending. An empty list and no list are the
 * same. A list may exceed 2 GB; one element may not. See {@link StateStore} for threads.
 */
public interface ListStore {
    void append(StateKey key, byte[] element, int offset, int length);

    /**
     * The list as it is now, or null if it is empty. Reading removes nothing. The reader keeps
     * showing this content through later changes, until {@link StateStore#releaseReaders}.
     */
    @Nullable ListReader get(StateKey key);

    /**
     * Says which lists will be read next, so that they can be brought to memory together. Changes
     * nothing but the time that reads take.
     *
     * @param keys those that are read first come first
     * @return for how many of them that is done; 0 if it is of no use, as when all are in memory
     */
    default int readAhead(List<StateKey> keys) {
        return 0;
    }

    /** Whether there was a list. */
    boolean clear(StateKey key);

    /**
     * Appends the list of {@code source} to that of {@code target} and clears {@code source},
     * without rewriting the merged elements.
     */
    void merge(StateKey target, StateKey source);

    /** As {@link ValueStore#scan}; entries have {@link EntryCursor#list}. */
    EntryCursor scan(int firstKeyGroup, int lastKeyGroup);
}
