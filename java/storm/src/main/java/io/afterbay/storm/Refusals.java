package io.afterbay.storm;

import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.storm.Config;
import org.apache.storm.daemon.StormCommon;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.generated.Grouping;
import org.apache.storm.spout.CheckpointSpout;
import org.apache.storm.topology.BaseStatefulBoltExecutor;
import org.apache.storm.topology.IRichBolt;
import org.apache.storm.topology.IRichSpout;
import org.apache.storm.topology.IStatefulComponent;
import org.apache.storm.topology.WindowedBoltExecutor;
import org.apache.storm.trident.spout.RichSpoutBatchTriggerer;
import org.apache.storm.trident.topology.MasterBatchCoordinator;
import org.apache.storm.trident.topology.TridentBoltExecutor;
import org.apache.storm.utils.ObjectReader;
import org.apache.storm.utils.Utils;
import org.jspecify.annotations.Nullable;

/** What a technique cannot be used for: each with the component, the stream and the way out. */
final class Refusals {
    private static final List<String> BATCH_SIZES =
            List.of(Config.TOPOLOGY_PRODUCER_BATCH_SIZE, Config.TOPOLOGY_TRANSFER_BATCH_SIZE);

    private final Components components;

    Refusals(Components components) {
        this.components = components;
    }

    /** The interfaces that are used here are the same in these. */
    static void checkVersion(String version) {
        if (!version.startsWith("2.8.") && !version.startsWith("3.")) {
            throw new IllegalArgumentException(
                    "Storm %s: stragglers are for 2.8 and 3, whose interfaces are the same; use one of them, or submit the topology as it is"
                            .formatted(version));
        }
    }

    static void checkNone(Set<String> both) {
        if (!both.isEmpty()) {
            throw new IllegalArgumentException(
                    "%s: shared and balanced at once; a bolt has one technique, name it for one of them"
                            .formatted(String.join(", ", both)));
        }
    }

    /** Of a bolt whose tasks are to have one queue, any task must be able to do any tuple. */
    void checkShared(String name) {
        IRichBolt bolt = components.boltObject(name);
        checkNotYet(name, bolt);
        checkKind(name, bolt);
        components
                .inputs(name)
                .forEach(
                        (stream, grouping) -> {
                            checkAnyTask(name, stream, grouping);
                            checkNotSharedByHand(name, stream, grouping);
                        });
    }

    /** It would look in vain for a bolt that was wrapped by hand, too. */
    private static void checkNotSharedByHand(
            String name, GlobalStreamId stream, Grouping grouping) {
        if (isSharedShuffle(grouping)) {
            throw new IllegalArgumentException(
                    "bolt '%s' gets stream '%s' of '%s' by a shuffle for shared bolts already; use shuffle grouping there, or wrap the bolt by StragglerPieces.shared and leave it out of shared()"
                            .formatted(name, Components.name(stream), Components.source(stream)));
        }
    }

    /** What one call has wrapped, another would wrap in the wrong order. */
    private static void checkNotYet(String name, IRichBolt bolt) {
        String technique = technique(bolt);
        if (!technique.isEmpty()) {
            throw new IllegalArgumentException(
                    "bolt '%s' is %s already; give all settings to one call of Stragglers.on"
                            .formatted(name, technique));
        }
    }

    /** What a bolt is wrapped for; empty if it is not. */
    static String technique(IRichBolt bolt) {
        if (bolt instanceof SharedBolt) {
            return "shared";
        }
        return bolt instanceof MeasuredBolt ? "balanced" : "";
    }

    private static void checkKind(String name, IRichBolt bolt) {
        String kind = kind(bolt);
        if (!kind.isEmpty()) {
            throw new IllegalArgumentException(
                    "bolt '%s' is %s: its tasks have state of their own, and cannot share a queue; do not share it"
                            .formatted(name, kind));
        }
    }

    /** What a bolt is, if its tasks have state of their own; empty if not. */
    static String kind(IRichBolt bolt) {
        if (bolt instanceof TimedBolt timed) {
            return kind(timed.bolt());
        }
        if (isStateful(bolt)) {
            return "stateful";
        }
        if (bolt instanceof WindowedBoltExecutor) {
            return "windowed";
        }
        return bolt instanceof TridentBoltExecutor ? "Trident's" : "";
    }

    static boolean isStateful(IRichBolt bolt) {
        return bolt instanceof BaseStatefulBoltExecutor || bolt instanceof IStatefulComponent;
    }

    static void checkAnyTask(String name, GlobalStreamId stream, Grouping grouping) {
        if (!isShuffle(grouping) && !isOurs(grouping)) {
            throw new IllegalArgumentException(
                    "bolt '%s' gets stream '%s' of '%s' by %s grouping, which names the task: its tasks cannot share a queue; use shuffle grouping, or do not share it"
                            .formatted(
                                    name,
                                    Components.name(stream),
                                    Components.source(stream),
                                    grouping.getSetField().getFieldName()));
        }
    }

    /** Of a bolt that is to be balanced, one stream at least must leave the choice of its task. */
    void checkBalanced(String name) {
        checkNotYet(name, components.boltObject(name));
        components
                .inputs(name)
                .forEach((stream, grouping) -> checkNotByHand(name, stream, grouping));
        if (components.inputs(name).values().stream().noneMatch(Refusals::isShuffle)) {
            throw new IllegalArgumentException(
                    "bolt '%s' gets nothing by shuffle grouping, so that there is no choice of a task; use shuffle grouping, or leave it out of balanced()"
                            .formatted(name));
        }
    }

    /** It would look in vain for a bolt that was wrapped by hand, too. */
    private static void checkNotByHand(String name, GlobalStreamId stream, Grouping grouping) {
        if (isBalanced(grouping)) {
            throw new IllegalArgumentException(
                    "bolt '%s' gets stream '%s' of '%s' by BalancedGrouping already; use shuffle grouping there, or wrap the bolt by StragglerPieces.balanced and leave it out of balanced()"
                            .formatted(name, Components.name(stream), Components.source(stream)));
        }
    }

    /** Of a spout whose tuples are to be replayed, Storm must tell the ends, and nobody else. */
    void checkReplayed(String name) {
        IRichSpout spout = components.spoutObject(name);
        String kind = kind(spout);
        if (!kind.isEmpty()) {
            throw new IllegalArgumentException(
                    "spout '%s' is %s: its tuples cannot be replayed one by one; leave it out of replayed()"
                            .formatted(name, kind));
        }
        if (spout instanceof ReplayedSpout
                || spout instanceof AttributingSpout outer
                        && outer.spout() instanceof ReplayedSpout) {
            throw new IllegalArgumentException(
                    "spout '%s' is replayed already; leave it out of replayed()".formatted(name));
        }
        components.boltsBehind(Set.of(name)).forEach(bolt -> checkOnTheWay(name, bolt));
    }

    /** What a spout is, if its tuples are no user's own; empty if they are. */
    static String kind(IRichSpout spout) {
        if (spout instanceof MasterBatchCoordinator || spout instanceof RichSpoutBatchTriggerer) {
            return "Trident's";
        }
        return spout instanceof CheckpointSpout ? "Storm's own, for checkpoints" : "";
    }

    private void checkOnTheWay(String spout, String bolt) {
        IRichBolt onTheWay;
        try {
            onTheWay = components.boltObject(bolt);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "spout '%s' goes to bolt '%s', of which nobody can say how busy it is, so that nothing would ever be replayed; leave the spout out of replayed()"
                            .formatted(spout, bolt),
                    e);
        }
        checkNotYet(bolt, onTheWay);
    }

    /**
     * @param conf the topology's
     */
    static void checkAckers(String spout, Map<String, Object> conf) {
        if (!StormCommon.hasAckers(conf)) {
            throw new IllegalArgumentException(
                    "spout '%s': %s is 0, so that nobody says which tuples are late; set it to 1 or more, or do not replay the spout"
                            .formatted(spout, Config.TOPOLOGY_ACKER_EXECUTORS));
        }
    }

    /**
     * Storm would not ask for replays, just when they are wanted.
     *
     * @param conf the spout's
     */
    static void checkPending(String spout, Map<String, Object> conf) {
        int max = ObjectReader.getInt(conf.get(Config.TOPOLOGY_MAX_SPOUT_PENDING), 0);
        if (max != ReplayedSpout.NO_LIMIT) {
            throw new IllegalArgumentException(
                    "spout '%s': %s is %d, and Storm would not ask a replayed spout for replays while so many tuples are under way; do not call setMaxSpoutPending for it, but set the limit for the topology, or in getComponentConfiguration() of the spout within: it is kept for the spout's own tuples"
                            .formatted(spout, Config.TOPOLOGY_MAX_SPOUT_PENDING, max));
        }
    }

    /**
     * Storm collects batches by thread, and tells only its own threads to send what waits. A shared
     * bolt has a thread that Storm does not know, whose batches would wait until they are full.
     *
     * @param conf the topology's, or the bolt's
     */
    static void checkBatches(String bolt, Map<String, Object> conf) {
        for (String size : BATCH_SIZES) {
            int tuples = ObjectReader.getInt(conf.get(size), 1);
            if (tuples > 1) {
                throw new IllegalArgumentException(
                        "bolt '%s': %s is %d, and batches of a shared bolt would wait until they are full; set it to 1, or do not share the bolt"
                                .formatted(bolt, size, tuples));
            }
        }
    }

    static boolean isShuffle(Grouping grouping) {
        return grouping.is_set_shuffle()
                || grouping.is_set_local_or_shuffle()
                || grouping.is_set_none();
    }

    private static boolean isOurs(Grouping grouping) {
        return isBalanced(grouping)
                || isSharedShuffle(grouping)
                || custom(grouping) instanceof AvoidingShuffle;
    }

    static boolean isBalanced(Grouping grouping) {
        return custom(grouping) instanceof BalancedGrouping;
    }

    static boolean isSharedShuffle(Grouping grouping) {
        return custom(grouping) instanceof SharedShuffle;
    }

    private static @Nullable Serializable custom(Grouping grouping) {
        return grouping.is_set_custom_serialized()
                ? Utils.javaDeserialize(grouping.get_custom_serialized(), Serializable.class)
                : null;
    }
}
