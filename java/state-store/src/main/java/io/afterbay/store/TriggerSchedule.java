package io.afterbay.store;

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

    long size();

    /** All triggers of key groups {@code first..last} (inclusive), by key group, then timestamp. */
    EntryCursor scan(int firstKeyGroup, int lastKeyGroup);
}
