package io.afterbay.storm;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.generated.NodeInfo;
import org.apache.storm.grouping.Load;
import org.apache.storm.grouping.LoadAwareCustomStreamGrouping;
import org.apache.storm.grouping.LoadMapping;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.task.WorkerTopologyContext;
import org.jspecify.annotations.Nullable;

/**
 * Storm's own shuffle grouping to a {@link SharedBolt}. Storm chooses a task, and so a worker; of
 * the tasks there, which have one queue, the first one gets the tuple. So only one of Storm's
 * threads in each worker has to look for tuples, and the others rest ({@link #isSpared}).
 *
 * <p>A replay goes to another task than the original ({@link AvoidedTasks}).
 */
final class SharedShuffle implements LoadAwareCustomStreamGrouping {
    private static final long serialVersionUID = 1;

    private final AvoidingShuffle shuffle;

    /** Whether nobody has looked at the topology around it. */
    private final boolean isByHand;

    private transient List<Integer> tasks = List.of();
    private transient @Nullable AtomicReference<Map<Integer, NodeInfo>> places;
    private transient volatile @Nullable Firsts firsts;

    /**
     * @param isLocal whether tuples go to tasks of this worker only, if there are any
     * @param isByHand whether nobody knows yet that the bolt is shared
     */
    SharedShuffle(boolean isLocal, boolean isByHand) {
        this.shuffle = new AvoidingShuffle(isLocal);
        this.isByHand = isByHand;
    }

    /**
     * The first task of each task's worker, as a list of one.
     *
     * @param places where Storm has placed the tasks; another object when it has placed them anew
     */
    private record Firsts(Map<Integer, NodeInfo> places, Map<Integer, List<Integer>> ofTasks) {
        static Firsts of(List<Integer> tasks, Map<Integer, NodeInfo> places) {
            Map<NodeInfo, List<Integer>> ofWorkers = new HashMap<>();
            Map<Integer, List<Integer>> ofTasks = new HashMap<>();
            for (Integer task : new TreeSet<>(tasks)) {
                List<Integer> itself = List.of(task);
                NodeInfo worker = places.get(task);
                ofTasks.put(
                        task,
                        worker == null ? itself : ofWorkers.computeIfAbsent(worker, any -> itself));
            }
            return new Firsts(places, ofTasks);
        }

        List<Integer> of(int task) {
            return Objects.requireNonNull(ofTasks.get(task));
        }
    }

    /** Whether a task of a shared bolt gets no tuples but the system's, such as ticks. */
    static boolean isSpared(TopologyContext context) {
        return context.getThisSources().values().stream().allMatch(Refusals::isSharedShuffle)
                && context.getComponentTasks(context.getThisComponentId()).stream()
                        .filter(context.getThisWorkerTasks()::contains)
                        .anyMatch(task -> task < context.getThisTaskId());
    }

    @Override
    public void prepare(
            WorkerTopologyContext context, GlobalStreamId stream, List<Integer> targetTasks) {
        if (isByHand) {
            PieceChecks.checkSharedTarget(context, stream, targetTasks.get(0));
        }
        tasks = List.copyOf(targetTasks);
        places = context.getTaskToNodePort();
        shuffle.prepare(context, stream, targetTasks);
    }

    @Override
    public List<Integer> chooseTasks(int taskId, List<Object> values) {
        List<Integer> chosen = shuffle.chooseTasks(taskId, values);
        List<Integer> first = firsts().of(chosen.get(0));
        return first.contains(AvoidedTasks.among(tasks)) ? chosen : first;
    }

    private Firsts firsts() {
        Map<Integer, NodeInfo> now = Objects.requireNonNull(places).get();
        Firsts known = firsts;
        if (known == null || known.places != now) {
            known = Firsts.of(tasks, now);
            firsts = known;
        }
        return known;
    }

    /** The queue of the first task is that of all: without its load, the others would look idle. */
    @Override
    public void refreshLoad(LoadMapping load) {
        Firsts now = firsts();
        Map<Integer, Load> loads = new HashMap<>();
        tasks.forEach(task -> loads.put(task, load.getLoad(now.of(task).get(0))));
        LoadMapping ofAll = new LoadMapping();
        ofAll.setRemote(loads);
        shuffle.refreshLoad(ofAll);
    }
}
