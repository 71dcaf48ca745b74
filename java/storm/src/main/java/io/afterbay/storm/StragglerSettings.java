package io.afterbay.storm;

import io.afterbay.stragglers.ReplayBudget;
import io.afterbay.stragglers.SharedQueue;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which technique is used for which bolts and spouts. Immutable; a bolt has one technique at most.
 *
 * <pre>{@code
 * StragglerSettings.none().balanced("parse").shared("enrich", "store").replayed("events")
 * }</pre>
 */
public final class StragglerSettings {
    /** How many tuples wait in the queue of a bolt's tasks, unless it is set. */
    public static final int SHARED_CAPACITY = 1024;

    private final Set<String> shared;
    private final Set<String> balanced;
    private final int sharedCapacity;
    private final Set<String> replayed;
    private final double replayShare;
    private final ProcessorLoad processors;

    private StragglerSettings(
            Set<String> shared,
            Set<String> balanced,
            int sharedCapacity,
            Set<String> replayed,
            double replayShare,
            ProcessorLoad processors) {
        this.shared = shared;
        this.balanced = balanced;
        this.sharedCapacity = sharedCapacity;
        this.replayed = replayed;
        this.replayShare = replayShare;
        this.processors = processors;
    }

    /** A topology as it is. */
    public static StragglerSettings none() {
        return new StragglerSettings(
                Set.of(),
                Set.of(),
                SHARED_CAPACITY,
                Set.of(),
                ReplayBudget.SHARE_DEFAULT,
                MachineLoad.OF_THIS_MACHINE);
    }

    /**
     * The tasks of each of these bolts in one worker have one input queue, so that no tuple waits
     * behind a slow one while a task is free.
     */
    public StragglerSettings shared(String... bolts) {
        return new StragglerSettings(
                with(shared, bolts), balanced, sharedCapacity, replayed, replayShare, processors);
    }

    /**
     * Senders give these bolts' tasks as much as they can take, so that a slow task gets less:
     * spouts with message ids in whatever worker a task is, bolts among the tasks of their own
     * worker. Beyond these they send as Storm does.
     */
    public StragglerSettings balanced(String... bolts) {
        return new StragglerSettings(
                shared, with(balanced, bolts), sharedCapacity, replayed, replayShare, processors);
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
        return new StragglerSettings(shared, balanced, tuples, replayed, replayShare, processors);
    }

    /**
     * Of these spouts' tuples, those that are late are emitted a second time, around the tasks that
     * have the first ones, while queues and processors have room for it: bolts may see a tuple
     * twice. The spout is told of the end of a tuple once, by the faster incarnation.
     */
    public StragglerSettings replayed(String... spouts) {
        return new StragglerSettings(
                shared, balanced, sharedCapacity, with(replayed, spouts), replayShare, processors);
    }

    /**
     * The share of a replayed spout's tuples that may be emitted a second time; {@value
     * ReplayBudget#SHARE_DEFAULT} unless it is set.
     *
     * @throws IllegalArgumentException unless it is from 0 to {@value ReplayBudget#SHARE_MAX}
     */
    public StragglerSettings replayShare(double share) {
        if (!(share >= 0 && share <= ReplayBudget.SHARE_MAX)) {
            throw new IllegalArgumentException(
                    "the share of tuples that are replayed must be from 0 to %s, not %s"
                            .formatted(ReplayBudget.SHARE_MAX, share));
        }
        return new StragglerSettings(shared, balanced, sharedCapacity, replayed, share, processors);
    }

    /** In place of this machine's. */
    StragglerSettings processors(ProcessorLoad load) {
        return new StragglerSettings(shared, balanced, sharedCapacity, replayed, replayShare, load);
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

    Set<String> replayed() {
        return replayed;
    }

    double replayShare() {
        return replayShare;
    }

    ProcessorLoad processors() {
        return processors;
    }
}
