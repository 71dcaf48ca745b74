package io.afterbay.storm;

import java.util.Map;
import org.apache.storm.Config;
import org.apache.storm.grouping.LoadAwareCustomStreamGrouping;
import org.apache.storm.topology.IRichBolt;
import org.apache.storm.topology.IRichSpout;
import org.apache.storm.utils.ObjectReader;
import org.apache.storm.utils.VersionInfo;
import org.jspecify.annotations.Nullable;

/**
 * The pieces that {@link Stragglers#on} puts into a topology, to be put in one by one while a
 * topology is built:
 *
 * <pre>{@code
 * builder.setSpout("events", balanced(new Events()));
 * builder.setBolt("parse", balanced(new Parse()), 5)
 *         .customGrouping("events", new BalancedGrouping());
 * builder.setBolt("store", shared(new Store()), 5).customGrouping("parse", sharedShuffle());
 * }</pre>
 *
 * <p>What a bolt or a spout cannot be is refused here, by its class. What the topology around it
 * does not allow is refused by its name when a worker starts, since no piece sees the topology
 * before; {@link Stragglers#on} refuses both before anything is submitted.
 *
 * <p>A bolt that is an {@code IBasicBolt} needs Storm's {@code BasicBoltExecutor} around it, one
 * that is an {@code IWindowedBolt} its {@code WindowedBoltExecutor}. A stateful one needs {@link
 * Stragglers#on}. What a user wraps around a piece must pass on its {@code
 * getComponentConfiguration()}.
 */
public final class StragglerPieces {
    private StragglerPieces() {}

    /** As {@link #shared(IRichBolt, int)}, with {@value StragglerSettings#SHARED_CAPACITY}. */
    public static IRichBolt shared(IRichBolt bolt) {
        return shared(bolt, StragglerSettings.SHARED_CAPACITY);
    }

    /**
     * A bolt whose tasks in one worker have one input queue. All its streams must come by {@link
     * #sharedShuffle}, {@link #sharedLocalOrShuffle}, or Storm's own groupings of these names,
     * which take more processor time; and Storm's batch sizes must be 1: else its tasks refuse to
     * start.
     *
     * @param capacity how many tuples wait in the queue, as {@link
     *     StragglerSettings#sharedCapacity}
     * @throws IllegalArgumentException if the bolt is stateful, windowed or Trident's, or wrapped
     *     already, or the capacity is out of its range
     */
    public static IRichBolt shared(IRichBolt bolt, int capacity) {
        checkBolt(bolt);
        String kind = Refusals.kind(bolt);
        if (!kind.isEmpty()) {
            throw new IllegalArgumentException(
                    "%s is %s: its tasks have state of their own, and cannot share a queue; do not share it"
                            .formatted(innermost(bolt), kind));
        }
        return new SharedBolt(
                bolt, StragglerSettings.none().sharedCapacity(capacity).sharedCapacity());
    }

    /**
     * In place of shuffle grouping to a {@link #shared} bolt: Storm's own, but of the bolt's tasks
     * in one worker, only one gets tuples for their queue, so that only one of Storm's threads has
     * to look for them.
     */
    public static LoadAwareCustomStreamGrouping sharedShuffle() {
        return new SharedShuffle(false, true);
    }

    /** The same in place of local-or-shuffle grouping. */
    public static LoadAwareCustomStreamGrouping sharedLocalOrShuffle() {
        return new SharedShuffle(true, true);
    }

    /**
     * A bolt that tells the senders of its own worker how long its tasks take. It must get a stream
     * by {@link BalancedGrouping}.
     *
     * @throws IllegalArgumentException if the bolt is stateful, or wrapped already
     */
    public static IRichBolt balanced(IRichBolt bolt) {
        checkBolt(bolt);
        checkStateless(bolt);
        return new MeasuredBolt(bolt);
    }

    /**
     * A spout whose acks tell its {@link BalancedGrouping}s how long the path behind each task
     * takes, in whatever worker the task is. Without it, they know the tasks in the spout's worker
     * only. A replayed spout is balanced after it is replayed: {@code balanced(replayed(spout))}.
     *
     * @throws IllegalArgumentException if the spout is balanced already, or is not a user's own
     */
    public static IRichSpout balanced(IRichSpout spout) {
        checkSpout(spout);
        return new AttributingSpout(spout);
    }

    /**
     * A bolt that tells the replayed spouts of its worker how busy it is. Each bolt that tuples of
     * a replayed spout come to must be one; it is shared or balanced after that: {@code
     * shared(timed(bolt))}.
     *
     * @throws IllegalArgumentException if the bolt is stateful, or wrapped already
     */
    public static IRichBolt timed(IRichBolt bolt) {
        checkBolt(bolt);
        if (bolt instanceof TimedBolt) {
            throw new IllegalArgumentException(innermost(bolt) + " is timed already; time it once");
        }
        checkStateless(bolt);
        return new TimedBolt(bolt);
    }

    /** As {@link #replayed(IRichSpout, StragglerSettings)}, with its defaults. */
    public static IRichSpout replayed(IRichSpout spout) {
        return replayed(spout, StragglerSettings.none());
    }

    /**
     * A spout whose late tuples are emitted a second time. Each bolt that its tuples come to must
     * be {@link #timed}, and where they come by shuffle grouping, this must be {@link
     * #replayShuffle}, {@link #sharedShuffle} or {@link BalancedGrouping}: else its tasks refuse to
     * start. They also do if there are no ackers, and if {@code setMaxSpoutPending} was called for
     * it: a limit must come with the topology's configuration, or with the spout's own.
     *
     * @param limits of which {@link StragglerSettings#replayShare} and {@link
     *     StragglerSettings#replayUpTo} count; it must name no components
     * @throws IllegalArgumentException if the spout is wrapped already, or is not a user's own
     */
    public static IRichSpout replayed(IRichSpout spout, StragglerSettings limits) {
        checkSpout(spout);
        if (spout instanceof ReplayedSpout) {
            throw new IllegalArgumentException(
                    innermost(spout) + " is replayed already; replay it once");
        }
        if (!limits.namesNothing()) {
            throw new IllegalArgumentException(
                    "the limits of replays are for one spout and name no components; leave shared(), balanced() and replayed() out of them, or use Stragglers.on");
        }
        ReplayPlan plan =
                new ReplayPlan(limits.replayLimits(), pendingMax(spout), null, limits.processors());
        return new ReplayedSpout(spout, plan);
    }

    /**
     * In place of shuffle grouping of a replayed spout's tuples: Storm's own, but a replay goes to
     * another task than the original.
     */
    public static LoadAwareCustomStreamGrouping replayShuffle() {
        return new AvoidingShuffle(false);
    }

    /** The same in place of local-or-shuffle grouping. */
    public static LoadAwareCustomStreamGrouping replayLocalOrShuffle() {
        return new AvoidingShuffle(true);
    }

    private static @Nullable Integer pendingMax(IRichSpout spout) {
        Map<String, Object> conf = spout.getComponentConfiguration();
        Object max = conf == null ? null : conf.get(Config.TOPOLOGY_MAX_SPOUT_PENDING);
        return max == null ? null : ObjectReader.getInt(max);
    }

    private static void checkBolt(IRichBolt bolt) {
        Refusals.checkVersion(VersionInfo.getVersion());
        String technique = Refusals.technique(bolt);
        if (!technique.isEmpty()) {
            throw new IllegalArgumentException(
                    "%s is %s already; a bolt has one technique, and what times it is within that"
                            .formatted(innermost(bolt), technique));
        }
    }

    /** Storm would take the wrapped one for stateless, and wrap it once more. */
    private static void checkStateless(IRichBolt bolt) {
        if (Refusals.isStateful(bolt)) {
            throw new IllegalArgumentException(
                    "%s is stateful, which Storm would not see any more; leave it as it is, and give the topology to Stragglers.on"
                            .formatted(innermost(bolt)));
        }
    }

    private static void checkSpout(IRichSpout spout) {
        Refusals.checkVersion(VersionInfo.getVersion());
        String kind = Refusals.kind(spout);
        if (!kind.isEmpty()) {
            throw new IllegalArgumentException(
                    "%s is %s; leave it as it is".formatted(name("spout", spout), kind));
        }
        if (spout instanceof AttributingSpout) {
            throw new IllegalArgumentException(
                    "%s is balanced already; balance it once, and replay it before that: balanced(replayed(spout))"
                            .formatted(innermost(spout)));
        }
    }

    private static String innermost(IRichSpout spout) {
        if (spout instanceof AttributingSpout attributing) {
            return innermost(attributing.spout());
        }
        return name("spout", spout instanceof ReplayedSpout replayed ? replayed.spout() : spout);
    }

    /** The user's own class, within what there is around it. */
    private static String innermost(IRichBolt bolt) {
        if (bolt instanceof SharedBolt shared) {
            return innermost(shared.bolt());
        }
        if (bolt instanceof MeasuredBolt measured) {
            return innermost(measured.bolt());
        }
        return name("bolt", bolt instanceof TimedBolt timed ? timed.bolt() : bolt);
    }

    private static String name(String kind, Object component) {
        return kind + " of " + component.getClass().getName();
    }
}
