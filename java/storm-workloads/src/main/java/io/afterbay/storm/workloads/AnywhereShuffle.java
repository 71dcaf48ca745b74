package io.afterbay.storm.workloads;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.generated.NodeInfo;
import org.apache.storm.grouping.LoadAwareCustomStreamGrouping;
import org.apache.storm.grouping.LoadAwareShuffleGrouping;
import org.apache.storm.grouping.LoadMapping;
import org.apache.storm.task.WorkerTopologyContext;
import org.jspecify.annotations.Nullable;

/**
 * Storm's load-aware shuffle without its locality, as a baseline: it is told that all tasks are
 * equally far, and so it does not fill those in the sender's worker first.
 */
final class AnywhereShuffle implements LoadAwareCustomStreamGrouping {
    private static final long serialVersionUID = 1;

    private transient @Nullable LoadAwareShuffleGrouping shuffle;

    /** What that grouping asks for: where the worker and tasks are. */
    private static final class Elsewhere extends WorkerTopologyContext {
        private static final NodeInfo NOWHERE = new NodeInfo("nowhere", Set.of(0L));

        Elsewhere(WorkerTopologyContext of, List<Integer> tasks) {
            super(
                    of.getRawTopology(),
                    of.getConf(),
                    of.getTaskToComponent(),
                    Map.of(),
                    Map.of(),
                    of.getStormId(),
                    of.getCodeDir(),
                    of.getPIDDir(),
                    of.getThisWorkerPort(),
                    of.getThisWorkerTasks(),
                    Map.of(),
                    Map.of(),
                    new AtomicReference<>(nowhere(tasks)),
                    of.getAssignmentId(),
                    of.getNodeToHost());
        }

        private static Map<Integer, NodeInfo> nowhere(List<Integer> tasks) {
            Map<Integer, NodeInfo> places = new HashMap<>();
            tasks.forEach(task -> places.put(task, NOWHERE));
            return places;
        }
    }

    @Override
    public void prepare(
            WorkerTopologyContext context, GlobalStreamId stream, List<Integer> targetTasks) {
        LoadAwareShuffleGrouping fresh = new LoadAwareShuffleGrouping();
        fresh.prepare(new Elsewhere(context, targetTasks), stream, targetTasks);
        shuffle = fresh;
    }

    @Override
    public List<Integer> chooseTasks(int taskId, List<Object> values) {
        return Objects.requireNonNull(shuffle).chooseTasks(taskId, values);
    }

    @Override
    public void refreshLoad(LoadMapping load) {
        Objects.requireNonNull(shuffle).refreshLoad(load);
    }
}
