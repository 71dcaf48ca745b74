package io.afterbay.storm;

import io.afterbay.stragglers.SharedQueue;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which technique is used for which bolts. Immutable; a bolt has one technique at most.
 *
 * <pre>{@code
 * StragglerSettings.none().balanced("parse").shared("enrich", "store")
 * }</pre>
 */
public final class StragglerSettings {
    /** How many tuples wait in the queue of a bolt's tasks, unless it is set. */
    public static final int SHARED_CAPACITY = 1024;

    private final Set<String> shared;
    private final Set<String> balanced;
    private final int sharedCapacity;

    private StragglerSettings(Set<String> shared, Set<String> balanced, int sharedCapacity) {
        this.shared = shared;
        this.balanced = balanced;
        this.sharedCapacity = sharedCapacity;
    }

    /** A topology as it is. */
    public static StragglerSettings none() {
        return new StragglerSettings(Set.of(), Set.of(), SHARED_CAPACITY);
    }

    /**
     * The tasks of each of these bolts in one worker have one input queue, so that no tuple waits
     * behind a slow one while a task is free.
     */
    public StragglerSettings shared(String... bolts) {
        return new StragglerSettings(with(shared, bolts), balanced, sharedCapacity);
    }

    /**
     * Senders give these bolts' tasks as much as they can take, so that a slow task gets less:
     * spouts with message ids in whatever worker a task is, bolts among the tasks of their own
     * worker. Beyond these they send as Storm does.
     */
    public StragglerSettings balanced(String... bolts) {
        return new StragglerSettings(shared, with(balanced, bolts), sharedCapacity);
    }

    /**
     * How many tuples wait for any task of a shared bolt before Storm's backpressure begins.
     *
     * @throws IllegalArgumentException unless it is from 1 to {@value SharedQueue#CAPACITY_MAX}
     */
    public StragglerSettings sharedCapacity(int tuples) {
        if (tuples < 1 || tuples > SharedQueue.CAPACITY_MAX) {
            throw new IllegalArgumentException(
                    "the capacity of a shared queue must be from 1 to %d, not %d"
                            .formatted(SharedQueue.CAPACITY_MAX, tuples));
        }
        return new StragglerSettings(shared, balanced, tuples);
    }

    private static Set<String> with(Set<String> names, String... more) {
        Set<String> all = new TreeSet<>(names);
        all.addAll(Arrays.asList(more));
        return all;
    }

    Set<String> shared() {
        return shared;
    }

    Set<String> balanced() {
        return balanced;
    }

    int sharedCapacity() {
        return sharedCapacity;
    }
}
