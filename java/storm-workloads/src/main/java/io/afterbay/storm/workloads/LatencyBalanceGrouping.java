package io.afterbay.storm.workloads;

import io.afterbay.stragglers.LatencyBalance;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.grouping.CustomStreamGrouping;
import org.apache.storm.task.WorkerTopologyContext;

/**
 * The paper's algorithm 2 ({@link LatencyBalance}), as a baseline. Each sender has shares of its
 * own, and hears at once how long each of its tuples took, which is more than the paper's senders
 * had.
 */
final class LatencyBalanceGrouping implements CustomStreamGrouping {
    private static final long serialVersionUID = 1;

    private final String trial;

    private transient Map<Integer, LatencyBalance> bySender = Map.of();
    private transient int[] tasks = {};

    LatencyBalanceGrouping(String trial) {
        this.trial = trial;
    }

    @Override
    public void prepare(
            WorkerTopologyContext context, GlobalStreamId stream, List<Integer> targetTasks) {
        tasks = targetTasks.stream().mapToInt(Integer::intValue).toArray();
        Map<Integer, LatencyBalance> balances = new ConcurrentHashMap<>();
        bySender = balances;
        TrialLog.of(trial)
                .listen(
                        context.getComponentId(tasks[0]),
                        (sender, task, latencyNanos, serviceNanos) -> {
                            LatencyBalance balance = balances.get(sender);
                            if (balance != null) {
                                balance.completed(task, latencyNanos);
                            }
                        });
    }

    @Override
    public List<Integer> chooseTasks(int sender, List<Object> values) {
        return List.of(bySender.computeIfAbsent(sender, any -> balance(sender)).choose());
    }

    private LatencyBalance balance(int sender) {
        LatencyBalance balance = new LatencyBalance(System::nanoTime, sender);
        balance.setTasks(tasks);
        return balance;
    }
}
