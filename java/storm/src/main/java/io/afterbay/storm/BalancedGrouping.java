package io.afterbay.storm;

import io.afterbay.stragglers.TwoChoices;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.grouping.LoadAwareCustomStreamGrouping;
import org.apache.storm.grouping.LoadMapping;
import org.apache.storm.task.WorkerTopologyContext;
import org.jspecify.annotations.Nullable;

/**
 * In place of a shuffle grouping: sends to tasks by how long they take ({@link TwoChoices}), where
 * all of them are in this worker and say it ({@link MeasuredBolt}). Else it is Storm's own
 * load-aware shuffle grouping: acks tell a spout how long a tuple's whole way took, which says too
 * little of its first task.
 */
public final class BalancedGrouping implements LoadAwareCustomStreamGrouping {
    private static final long serialVersionUID = 1;

    private transient @Nullable Edge edge;
    private transient @Nullable Map<Integer, List<Integer>> answers;
    private transient @Nullable AvoidingShuffle shuffle;

    BalancedGrouping() {}

    @Override
    public void prepare(
            WorkerTopologyContext context, GlobalStreamId stream, List<Integer> targetTasks) {
        if (targetTasks.isEmpty() || !isHere(context.getThisWorkerTasks(), targetTasks)) {
            shuffle = new AvoidingShuffle(false);
            shuffle.prepare(context, stream, targetTasks);
            return;
        }
        String target = context.getComponentId(targetTasks.get(0));
        edge = WorkerShare.of(context).edge(stream, target, () -> edgeTo(targetTasks));
        Map<Integer, List<Integer>> lists = new HashMap<>();
        targetTasks.forEach(task -> lists.put(task, List.of(task)));
        answers = lists;
    }

    private static boolean isHere(List<Integer> here, List<Integer> targetTasks) {
        Set<Integer> all = new HashSet<>(here);
        return all.containsAll(targetTasks);
    }

    private static Edge edgeTo(List<Integer> targetTasks) {
        TwoChoices chooser = new TwoChoices(System::nanoTime, System.nanoTime());
        chooser.setTasks(targetTasks.stream().mapToInt(Integer::intValue).toArray());
        return new Edge(chooser);
    }

    @Override
    public List<Integer> chooseTasks(int taskId, List<Object> values) {
        if (edge == null) {
            return Objects.requireNonNull(shuffle).chooseTasks(taskId, values);
        }
        Map<Integer, List<Integer>> lists = Objects.requireNonNull(answers);
        return Objects.requireNonNull(lists.get(edge.send(AvoidedTasks.among(lists.keySet()))));
    }

    @Override
    public void refreshLoad(LoadMapping load) {
        if (shuffle != null) {
            shuffle.refreshLoad(load);
        }
    }
}
