package io.afterbay.storm.workloads;

import java.util.List;
import java.util.Objects;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.grouping.CustomStreamGrouping;
import org.apache.storm.task.WorkerTopologyContext;
import org.jspecify.annotations.Nullable;

/**
 * The paper's algorithm 2 ({@link SenderBalances}), as a baseline. Senders hear at once how long
 * each of their tuples took, in the queue and at the task; the paper's had to collect it.
 */
final class LatencyBalanceGrouping implements CustomStreamGrouping {
    private static final long serialVersionUID = 1;

    private final String trial;

    private transient @Nullable SenderBalances balances;

    LatencyBalanceGrouping(String trial) {
        this.trial = trial;
    }

    @Override
    public void prepare(
            WorkerTopologyContext context, GlobalStreamId stream, List<Integer> targetTasks) {
        int[] tasks = targetTasks.stream().mapToInt(Integer::intValue).toArray();
        SenderBalances fresh = new SenderBalances(System::nanoTime, tasks);
        balances = fresh;
        TrialLog.of(trial)
                .listen(
                        context.getComponentId(tasks[0]),
                        (sender, task, latencyNanos, serviceNanos) ->
                                fresh.executed(sender, task, latencyNanos));
    }

    @Override
    public List<Integer> chooseTasks(int sender, List<Object> values) {
        return List.of(Objects.requireNonNull(balances).choose(sender));
    }
}
