package io.afterbay.storm;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.generated.Grouping;
import org.apache.storm.spout.CheckpointSpout;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.task.WorkerTopologyContext;

/**
 * What a piece needs of the topology that it was put into by hand ({@link StragglerPieces}). No
 * piece sees the topology before a worker starts: so it is refused there, as a bolt's own mistakes
 * are.
 */
final class PieceChecks {
    private PieceChecks() {}

    /** Any task of a shared bolt must be able to do any tuple. */
    static void checkShared(TopologyContext context) {
        String self = context.getThisComponentId();
        context.getThisSources()
                .forEach(
                        (stream, grouping) -> {
                            checkNoCheckpoints(self, stream);
                            Refusals.checkAnyTask(self, stream, grouping);
                        });
    }

    /** Storm acks for all bolts then, when they return. */
    private static void checkNoCheckpoints(String self, GlobalStreamId stream) {
        if (CheckpointSpout.CHECKPOINT_STREAM_ID.equals(Components.name(stream))) {
            throw new IllegalArgumentException(
                    "bolt '%s' is in a topology with a stateful bolt, in which Storm acks each tuple when execute() returns: its tasks cannot share a queue; do not share it"
                            .formatted(self));
        }
    }

    /** All tuples of a worker would go to one task of a bolt that is not shared. */
    static void checkSharedTarget(
            WorkerTopologyContext context, GlobalStreamId stream, int targetTask) {
        String target = context.getComponentId(targetTask);
        if (!Mark.SHARED.isOn(components(context).bolt(target))) {
            throw new IllegalArgumentException(
                    "bolt '%s' gets stream '%s' of '%s' by a shuffle for shared bolts, but is not shared; wrap it by StragglerPieces.shared, or use shuffle grouping"
                            .formatted(target, Components.name(stream), Components.source(stream)));
        }
    }

    /** Somebody must want to know what a balanced bolt tells. */
    static void checkMeasured(TopologyContext context) {
        if (context.getThisSources().values().stream().noneMatch(Refusals::isBalanced)) {
            throw new IllegalArgumentException(
                    "bolt '%s' is balanced, but gets nothing by BalancedGrouping, so that each task would get as much as ever; use customGrouping(SOURCE, new BalancedGrouping()), or do not balance it"
                            .formatted(context.getThisComponentId()));
        }
    }

    /** The same of a spout whose acks tell. */
    static void checkAttributing(TopologyContext context) {
        if (context.getThisTargets().values().stream()
                .flatMap(targets -> targets.values().stream())
                .noneMatch(Refusals::isBalanced)) {
            throw new IllegalArgumentException(
                    "spout '%1$s' is balanced, but nobody gets its tuples by BalancedGrouping; use customGrouping(\"%1$s\", new BalancedGrouping()) at a bolt, or do not balance the spout"
                            .formatted(context.getThisComponentId()));
        }
    }

    /** A bolt that does not tell how long its tasks take looks as if it never were done. */
    static void checkTarget(WorkerTopologyContext context, GlobalStreamId stream, String target) {
        if (!Mark.MEASURED.isOn(components(context).bolt(target))) {
            throw new IllegalArgumentException(
                    "bolt '%s' gets stream '%s' of '%s' by BalancedGrouping, but does not tell how long its tasks take; wrap it by StragglerPieces.balanced, or use shuffle grouping"
                            .formatted(target, Components.name(stream), Components.source(stream)));
        }
    }

    /** Whether a stream is that of a spout. */
    static boolean isOfSpout(WorkerTopologyContext context, GlobalStreamId stream) {
        return components(context).hasSpout(Components.source(stream));
    }

    /** Whether a stream is that of a spout that tells of acks. */
    static boolean hasAcks(WorkerTopologyContext context, GlobalStreamId stream) {
        return isOfSpout(context, stream)
                && Mark.ATTRIBUTING.isOn(components(context).spout(Components.source(stream)));
    }

    /**
     * The bolts that the tuples of a replayed spout come to: of each it must be known how busy it
     * is, and the first ones must be sent to around the original's task.
     */
    static List<String> checkedWay(TopologyContext context) {
        String self = context.getThisComponentId();
        Components components = components(context);
        List<String> bolts = List.copyOf(components.boltsBehind(Set.of(self)));
        for (String bolt : bolts) {
            if (!Mark.TIMED.isOn(components.bolt(bolt))) {
                throw new IllegalArgumentException(
                        "spout '%s' is replayed, but bolt '%s', which its tuples come to, does not tell how busy it is, so that nothing would ever be replayed; wrap it by StragglerPieces.timed, or do not replay the spout"
                                .formatted(self, bolt));
            }
            components
                    .inputs(bolt)
                    .forEach((stream, grouping) -> checkAvoiding(self, bolt, stream, grouping));
        }
        return bolts;
    }

    private static void checkAvoiding(
            String spout, String bolt, GlobalStreamId stream, Grouping grouping) {
        if (Components.source(stream).equals(spout) && Refusals.isShuffle(grouping)) {
            throw new IllegalArgumentException(
                    "bolt '%s' gets stream '%s' of '%s' by shuffle grouping, which may send a replay to the task that has the original; use customGrouping(\"%3$s\", StragglerPieces.replayShuffle()), or do not replay the spout"
                            .formatted(bolt, Components.name(stream), spout));
        }
    }

    private static Components components(WorkerTopologyContext context) {
        return new Components(Objects.requireNonNull(context.getRawTopology()));
    }
}
