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
    private final ReplayLimits replayLimits;
    private final ProcessorLoad processors;

    private StragglerSettings(
            Set<String> shared,
            Set<String> balanced,
            int sharedCapacity,
            Set<String> replayed,
            ReplayLimits replayLimits,
            ProcessorLoad processors) {
        this.shared = shared;
        this.balanced = balanced;
        this.sharedCapacity = sharedCapacity;
        this.replayed = replayed;
        this.replayLimits = replayLimits;
        this.processors = processors;
    }

    /** A topology as it is. */
    public static StragglerSettings none() {
        return new StragglerSettings(
                Set.of(),
                Set.of(),
                SHARED_CAPACITY,
                Set.of(),
                ReplayLimits.DEFAULT,
                MachineLoad.OF_THIS_MACHINE);
    }

    /**
     * The tasks of each of these bolts in one worker have one input queue, so that no tuple waits
     * behind a slow one while a task is free.
     */
    public StragglerSettings shared(String... bolts) {
        return new StragglerSettings(
                with(shared, bolts), balanced, sharedCapacity, replayed, replayLimits, processors);
    }

    /**
     * Senders give these bolts' tasks as much as they can take, so that a slow task gets less:
     * spouts with message ids in whatever worker a task is, bolts among the tasks of their own
     * worker. Beyond these they send as Storm does.
     */
    public StragglerSettings balanced(String... bolts) {
        return new StragglerSettings(
                shared, with(balanced, bolts), sharedCapacity, replayed, replayLimits, processors);
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
        return new StragglerSettings(shared, balanced, tuples, replayed, replayLimits, processors);
    }

    /**
     * Of these spouts' tuples, those that are late are emitted a second time, around the tasks that
     * have the first ones, while queues and processors have room for it: bolts may see a tuple
     * twice. The spout is told of the end of a tuple once, by the faster incarnation.
     */
    public StragglerSettings replayed(String... spouts) {
        return new StragglerSettings(
                shared, balanced, sharedCapacity, with(replayed, spouts), replayLimits, processors);
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
        return with(new ReplayLimits(share, replayLimits.queues(), replayLimits.processors()));
    }

    /**
     * Up to which utilisation tuples are replayed: by default the paper's limits, {@value
     * ReplayBudget#QUEUE_UTILISATION_MAX} and {@value ReplayBudget#CPU_UTILISATION_MAX}. Above them
     * the work of replays makes more tuples late than replays help. 1 is no limit.
     *
     * @param queues share of the time for which the busiest bolt on the way is at work
     * @param processors share of the time for which the machine's processors are
     * @throws IllegalArgumentException unless both are from 0 to 1
     */
    public StragglerSettings replayUpTo(double queues, double processors) {
        checkUtilisation("queues", queues);
        checkUtilisation("processors", processors);
        return with(new ReplayLimits(replayLimits.share(), queues, processors));
    }

    private static void checkUtilisation(String of, double limit) {
        if (!(limit >= 0 && limit <= 1)) {
            throw new IllegalArgumentException(
                    "the utilisation of the %s up to which tuples are replayed must be from 0 to 1, not %s"
                            .formatted(of, limit));
        }
    }

    private StragglerSettings with(ReplayLimits limits) {
        return new StragglerSettings(
                shared, balanced, sharedCapacity, replayed, limits, processors);
    }

    /** In place of this machine's. */
    StragglerSettings processors(ProcessorLoad load) {
        return new StragglerSettings(
                shared, balanced, sharedCapacity, replayed, replayLimits, load);
    }

    private static Set<String> with(Set<String> names, String... more) {
        Set<String> all = new TreeSet<>(names);
        all.addAll(Arrays.asList(more));
        return all;
    }

    /** Whether no bolt and no spout has a technique. */
    boolean namesNothing() {
        return shared.isEmpty() && balanced.isEmpty() && replayed.isEmpty();
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

    ReplayLimits replayLimits() {
        return replayLimits;
    }

    ProcessorLoad processors() {
        return processors;
    }
}
