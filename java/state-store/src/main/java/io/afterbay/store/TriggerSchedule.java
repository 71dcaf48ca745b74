package io.afterbay.store;

import java.util.List;

/**
 * A set of (timestamp, key, namespace), in order of timestamp, then key group. Takes any timestamp
 * at any time. Equal timestamps of one key group come in a fixed but unspecified order. See {@link
 * StateStore} for threads.
 */
public interface TriggerSchedule {
    /** Whether it was absent before. */
    boolean add(long timestamp, StateKey key);

    /** Whether it was present. */
    boolean remove(long timestamp, StateKey key);

    boolean contains(long timestamp, StateKey key);

    /** Copies the first trigger into {@code into}; false if there is none. */
    boolean peek(Trigger into);

    /** As {@link #peek}, and removes it. */
    boolean poll(Trigger into);

    /**
     * The first triggers, in order of timestamp, as copies. A hint: some may be left out for later
     * ones.
     *
     * @param max how many at most
     */
    default List<Trigger> upcoming(int max) {
        return List.of();
    }

    long size();

    /** All triggers of key groups {@code first..last} (inclusive), by key group, then timestamp. */
    EntryCursor scan(int firstKeyGroup, int lastKeyGroup);
}
