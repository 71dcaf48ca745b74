package io.afterbay.storm.workloads;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.grouping.LoadAwareCustomStreamGrouping;
import org.apache.storm.grouping.LoadAwareShuffleGrouping;
import org.apache.storm.grouping.LoadMapping;
import org.apache.storm.task.WorkerTopologyContext;
import org.jspecify.annotations.Nullable;

/** Sends by {@link JitterRule}; without a winner as Storm's load-aware shuffle does. */
final class JitterGrouping implements LoadAwareCustomStreamGrouping {
    private static final long serialVersionUID = 1;

    private final String trial;

    private transient @Nullable JitterRule rule;
    private transient @Nullable LoadAwareShuffleGrouping shuffle;
    private transient List<Integer> tasks = List.of();

    JitterGrouping(String trial) {
        this.trial = trial;
    }

    @Override
    public void prepare(
            WorkerTopologyContext context, GlobalStreamId stream, List<Integer> targetTasks) {
        tasks = targetTasks;
        shuffle = new LoadAwareShuffleGrouping();
        shuffle.prepare(context, stream, targetTasks);
        JitterRule fresh = new JitterRule(System::nanoTime);
        rule = fresh;
        TrialLog.of(trial)
                .listen(
                        context.getComponentId(targetTasks.get(0)),
                        (sender, task, latencyNanos, serviceNanos) ->
                                fresh.executed(task, serviceNanos));
    }

    @Override
    public List<Integer> chooseTasks(int sender, List<Object> values) {
        int winner = tasks.size() < 2 ? JitterRule.TIE : better();
        return winner == JitterRule.TIE
                ? Objects.requireNonNull(shuffle).chooseTasks(sender, values)
                : List.of(winner);
    }

    private int better() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        int first = random.nextInt(tasks.size());
        int second = random.nextInt(tasks.size() - 1);
        second += second >= first ? 1 : 0;
        return Objects.requireNonNull(rule).better(tasks.get(first), tasks.get(second));
    }

    @Override
    public void refreshLoad(LoadMapping load) {
        if (shuffle != null) {
            shuffle.refreshLoad(load);
        }
    }
}
