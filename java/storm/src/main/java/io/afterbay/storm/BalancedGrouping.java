package io.afterbay.storm;

import io.afterbay.stragglers.TaskChooser;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.storm.Config;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.grouping.LoadAwareCustomStreamGrouping;
import org.apache.storm.grouping.LoadMapping;
import org.apache.storm.task.WorkerTopologyContext;
import org.apache.storm.utils.ObjectReader;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * In place of a shuffle grouping: sends to tasks by how long they take, as far as an {@link Edge}
 * knows that, and else as Storm's own load-aware shuffle grouping does.
 *
 * <pre>{@code
 * builder.setBolt("parse", StragglerPieces.balanced(new Parse()), 5)
 *         .customGrouping("events", new BalancedGrouping());
 * }</pre>
 *
 * <p>The bolt must be {@link StragglerPieces#balanced(org.apache.storm.topology.IRichBolt)}: else
 * the worker refuses to start. A spout that sends should be {@link
 * StragglerPieces#balanced(org.apache.storm.topology.IRichSpout)}: else only tasks in its own
 * worker are known, and those beyond by their queues. The worker's log and a metric say by what a
 * stream is sent.
 */
public final class BalancedGrouping implements LoadAwareCustomStreamGrouping {
    private static final long serialVersionUID = 3;
    private static final Logger LOG = LoggerFactory.getLogger(BalancedGrouping.class);
    private static final double LEAVES = 0.8;
    private static final double IS_BACK = 0.2;

    private final boolean isLocal;
    private final boolean hasAcks;

    /** Whether nobody has looked at the topology around it. */
    private final boolean isByHand;

    private transient @Nullable Edge edge;
    private transient @Nullable Map<Integer, List<Integer>> answers;
    private transient @Nullable AvoidingShuffle shuffle;

    /** For a replay of a local stream whose only task here has the original. */
    private transient @Nullable AvoidingShuffle beyond;

    private transient double leaves;
    private transient double isBack;

    /** In place of shuffle grouping. */
    public BalancedGrouping() {
        this(false, false, true);
    }

    /**
     * In place of local-or-shuffle grouping: nothing leaves a worker that has tasks of the bolt.
     */
    public static BalancedGrouping local() {
        return new BalancedGrouping(true, false, true);
    }

    /**
     * @param isLocal whether it is in place of local-or-shuffle grouping: nothing leaves a worker
     *     that has tasks of the bolt
     * @param hasAcks whether the source is a spout that tells of acks ({@link AttributingSpout})
     */
    BalancedGrouping(boolean isLocal, boolean hasAcks) {
        this(isLocal, hasAcks, false);
    }

    private BalancedGrouping(boolean isLocal, boolean hasAcks, boolean isByHand) {
        this.isLocal = isLocal;
        this.hasAcks = hasAcks;
        this.isByHand = isByHand;
    }

    @Override
    public void prepare(
            WorkerTopologyContext context, GlobalStreamId stream, List<Integer> targetTasks) {
        Set<Integer> here = new HashSet<>(context.getThisWorkerTasks());
        List<Integer> tasks = reachable(targetTasks, here);
        Map<String, Object> conf = context.getConf();
        leaves = share(conf, Config.TOPOLOGY_LOCALITYAWARE_HIGHER_BOUND, LEAVES);
        isBack = share(conf, Config.TOPOLOGY_LOCALITYAWARE_LOWER_BOUND, IS_BACK);
        String target = context.getComponentId(tasks.get(0));
        if (isByHand) {
            PieceChecks.checkTarget(context, stream, target);
        }
        boolean isTold = hasAcks || isByHand && PieceChecks.hasAcks(context, stream);
        boolean isAckable = isTold && hasAckers(conf);
        // Without load, nobody would know when the tasks here have too much.
        boolean areToldFull = here.containsAll(tasks) || AvoidingShuffle.isLoadAware(conf);
        Set<Integer> telling = areToldFull ? here : Set.of();
        Edge of =
                WorkerShare.of(context)
                        .edge(
                                stream,
                                target,
                                () ->
                                        new Edge(
                                                telling,
                                                tasks,
                                                isAckable,
                                                spread(context, stream, tasks, here)));
        if (!of.isAllHere()) {
            AvoidingShuffle storms = new AvoidingShuffle(false);
            storms.prepare(context, stream, tasks);
            shuffle = storms;
        }
        if (isLocal) {
            AvoidingShuffle all = new AvoidingShuffle(true);
            all.prepare(context, stream, targetTasks);
            beyond = all;
        }
        log(stream, target, of);
        if (isByHand && !isTold && !of.isAllHere() && hasAckers(conf)) {
            logUnused(context, stream, target);
        }
        edge = of;
        Map<Integer, List<Integer>> lists = new HashMap<>();
        tasks.forEach(task -> lists.put(task, List.of(task)));
        answers = lists;
    }

    private static @Nullable EvenSpread spread(
            WorkerTopologyContext context,
            GlobalStreamId stream,
            List<Integer> tasks,
            Set<Integer> here) {
        if (here.containsAll(tasks) || !AvoidingShuffle.isLoadAware(context.getConf())) {
            return null;
        }
        List<Integer> senders = context.getComponentTasks(Components.source(stream));
        return new EvenSpread(
                tasks,
                tasks.stream().filter(here::contains).toList(),
                (double) senders.stream().filter(here::contains).count() / senders.size(),
                context.getTaskToNodePort(),
                System::nanoTime);
    }

    /** As Storm does it for local-or-shuffle grouping. */
    private List<Integer> reachable(List<Integer> targetTasks, Set<Integer> here) {
        List<Integer> those = targetTasks.stream().filter(here::contains).toList();
        return isLocal && !those.isEmpty() ? those : targetTasks;
    }

    private static double share(Map<String, Object> conf, String key, double otherwise) {
        return ObjectReader.getDouble(conf.get(key), otherwise);
    }

    private static boolean hasAckers(Map<String, Object> conf) {
        Object ackers = conf.get(Config.TOPOLOGY_ACKER_EXECUTORS);
        return ackers == null || ObjectReader.getInt(ackers) > 0;
    }

    private static void log(GlobalStreamId stream, String target, Edge edge) {
        LOG.info(
                "stream '{}' of '{}' to '{}': {}{}",
                Components.name(stream),
                Components.source(stream),
                target,
                edge.kind(),
                edge.wantsAcks() ? "; from the first ack on " + BalanceKind.ACKS : "");
    }

    private static void logUnused(
            WorkerTopologyContext context, GlobalStreamId stream, String target) {
        if (PieceChecks.isOfSpout(context, stream)) {
            LOG.info(
                    "acks of spout '{}' could tell of the tasks of '{}' in other workers: wrap the spout by StragglerPieces.balanced",
                    Components.source(stream),
                    target);
        }
    }

    @Override
    public List<Integer> chooseTasks(int taskId, List<Object> values) {
        Edge of = Objects.requireNonNull(edge);
        Map<Integer, List<Integer>> lists = Objects.requireNonNull(answers);
        int avoided = AvoidedTasks.among(lists.keySet());
        if (beyond != null && avoided != TaskChooser.NO_TASK && lists.size() == 1) {
            return beyond.chooseTasks(taskId, values);
        }
        int task = of.choose(avoided);
        List<Integer> answer =
                task == TaskChooser.NO_TASK
                        ? Objects.requireNonNull(shuffle).chooseTasks(taskId, values)
                        : Objects.requireNonNull(lists.get(task));
        of.sent(answer.get(0));
        return answer;
    }

    @Override
    public void refreshLoad(LoadMapping load) {
        if (shuffle != null) {
            Objects.requireNonNull(edge).refresh(load, leaves, isBack);
            shuffle.refreshLoad(load);
        }
        if (beyond != null) {
            beyond.refreshLoad(load);
        }
    }
}
