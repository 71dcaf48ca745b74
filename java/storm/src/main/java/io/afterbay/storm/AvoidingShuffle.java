package io.afterbay.storm;

import io.afterbay.stragglers.TaskChooser;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.storm.Config;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.grouping.CustomStreamGrouping;
import org.apache.storm.grouping.LoadAwareCustomStreamGrouping;
import org.apache.storm.grouping.LoadAwareShuffleGrouping;
import org.apache.storm.grouping.LoadMapping;
import org.apache.storm.grouping.ShuffleGrouping;
import org.apache.storm.task.WorkerTopologyContext;
import org.apache.storm.utils.ObjectReader;
import org.jspecify.annotations.Nullable;

/**
 * Storm's own shuffle grouping, but for a replay, which goes to another task than the original
 * ({@link AvoidedTasks}), in another worker if there is none in this one.
 */
final class AvoidingShuffle implements LoadAwareCustomStreamGrouping {
    private static final long serialVersionUID = 1;

    /** How often Storm's grouping is asked for another task before any other is taken. */
    private static final int TRIES = 16;

    private final boolean isLocal;

    private transient @Nullable CustomStreamGrouping shuffle;
    private transient Set<Integer> tasks = Set.of();

    /**
     * @param isLocal whether tuples go to tasks of this worker only, if there are any
     */
    AvoidingShuffle(boolean isLocal) {
        this.isLocal = isLocal;
    }

    @Override
    public void prepare(
            WorkerTopologyContext context, GlobalStreamId stream, List<Integer> targetTasks) {
        tasks = Set.copyOf(targetTasks);
        CustomStreamGrouping storms =
                isLoadAware(context.getConf())
                        ? new LoadAwareShuffleGrouping()
                        : new ShuffleGrouping();
        storms.prepare(context, stream, isLocal ? nearest(context, targetTasks) : targetTasks);
        shuffle = storms;
    }

    static boolean isLoadAware(Map<String, Object> conf) {
        return !ObjectReader.getBoolean(
                conf.get(Config.TOPOLOGY_DISABLE_LOADAWARE_MESSAGING), false);
    }

    private static List<Integer> nearest(WorkerTopologyContext context, List<Integer> targetTasks) {
        Set<Integer> here = new HashSet<>(context.getThisWorkerTasks());
        List<Integer> near = targetTasks.stream().filter(here::contains).toList();
        return near.isEmpty() ? targetTasks : near;
    }

    @Override
    public List<Integer> chooseTasks(int taskId, List<Object> values) {
        int avoided = AvoidedTasks.among(tasks);
        CustomStreamGrouping storms = Objects.requireNonNull(shuffle);
        List<Integer> chosen = storms.chooseTasks(taskId, values);
        if (avoided == TaskChooser.NO_TASK) {
            return chosen;
        }
        for (int i = 1; i < TRIES && chosen.contains(avoided); i++) {
            chosen = storms.chooseTasks(taskId, values);
        }
        return chosen.contains(avoided) ? anyBut(avoided) : chosen;
    }

    private List<Integer> anyBut(int avoided) {
        List<Integer> others = tasks.stream().filter(task -> task != avoided).toList();
        return others.isEmpty()
                ? List.of(avoided)
                : List.of(others.get(ThreadLocalRandom.current().nextInt(others.size())));
    }

    @Override
    public void refreshLoad(LoadMapping load) {
        if (shuffle instanceof LoadAwareCustomStreamGrouping loadAware) {
            loadAware.refreshLoad(load);
        }
    }
}
