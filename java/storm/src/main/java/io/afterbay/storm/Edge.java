package io.afterbay.storm;

import io.afterbay.stragglers.TaskChooser;
import io.afterbay.stragglers.TwoChoices;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.storm.grouping.Load;
import org.apache.storm.grouping.LoadMapping;
import org.jspecify.annotations.Nullable;

/**
 * What the senders of one worker know of a stream to the tasks of a bolt, and so how they choose:
 *
 * <ul>
 *   <li>by a spout's acks, from the first one on, if tasks are in other workers too;
 *   <li>by what the tasks in this worker tell ({@link MeasuredBolt}), if there are some, until
 *       their queues are nearly full. Where these tasks would get more than others, tuples leave
 *       the worker, and so do all if there is none ({@link EvenSpread});
 *   <li>else not at all: Storm's grouping does.
 * </ul>
 *
 * <p>Safe for use by any thread.
 */
final class Edge {
    private final List<Integer> tasksHere;
    private final boolean isAllHere;
    private final @Nullable TaskChooser here;
    private final @Nullable TaskChooser byAcks;
    private final @Nullable EvenSpread spread;

    private volatile boolean isAcked;
    private volatile boolean isFullHere;

    /**
     * @param workerTasks all tasks in this worker
     * @param targetTasks those of the bolt
     * @param isAckable whether the stream is that of a spout that hears of acks
     * @param spread of the tuples that leave the worker; null if none do, or nobody knows how full
     *     queues are
     */
    Edge(
            Set<Integer> workerTasks,
            List<Integer> targetTasks,
            boolean isAckable,
            @Nullable EvenSpread spread) {
        this.spread = spread;
        tasksHere = new ArrayList<>(targetTasks);
        tasksHere.retainAll(workerTasks);
        isAllHere = tasksHere.size() == targetTasks.size();
        here = tasksHere.isEmpty() ? null : among(newChooser(false), tasksHere);
        byAcks = isAckable && !isAllHere ? among(newChooser(true), targetTasks) : null;
    }

    private static TwoChoices newChooser(boolean isByAcks) {
        long seed = System.nanoTime();
        return isByAcks
                ? TwoChoices.byAcks(System::nanoTime, seed)
                : new TwoChoices(System::nanoTime, seed);
    }

    private static TaskChooser among(TaskChooser chooser, List<Integer> tasks) {
        chooser.setTasks(tasks.stream().mapToInt(Integer::intValue).toArray());
        return chooser;
    }

    boolean isAllHere() {
        return isAllHere;
    }

    /**
     * The task for a tuple; {@link TaskChooser#NO_TASK} if Storm's grouping is to choose.
     *
     * @param avoided a task that it goes around, if there is another; or none
     */
    int choose(int avoided) {
        if (byAcks != null && isAcked) {
            return byAcks.chooseOther(avoided);
        }
        if (isFullHere) {
            return TaskChooser.NO_TASK;
        }
        int elsewhere = spread == null ? TaskChooser.NO_TASK : spread.next();
        if (elsewhere != TaskChooser.NO_TASK && elsewhere != avoided) {
            return elsewhere;
        }
        if (here == null) {
            return TaskChooser.NO_TASK;
        }
        int task = here.chooseOther(avoided);
        return task == avoided && !isAllHere ? TaskChooser.NO_TASK : task;
    }

    /** A tuple goes to a task, whoever chose it. */
    void sent(int task) {
        if (here != null) {
            here.sent(task);
        }
    }

    /** A task in this worker has processed a tuple of this worker. */
    void completed(int task, long nanos) {
        if (here != null) {
            here.completed(task, nanos);
        }
    }

    /** Whether somebody is to tell of acks. */
    boolean wantsAcks() {
        return byAcks != null;
    }

    /** A tuple that will be acked, or fail, has gone to a task. */
    void sentWithId(int task) {
        if (byAcks != null) {
            byAcks.sent(task);
        }
    }

    /** All that came of such a tuple is done. */
    void acked(int task, long nanos) {
        if (byAcks != null) {
            byAcks.completed(task, nanos);
            isAcked = true;
        }
    }

    /** Such a tuple has failed, or Storm waits no longer for its ack. */
    void failed(int task) {
        if (byAcks != null) {
            byAcks.failed(task);
        }
    }

    /**
     * What Storm knows of the queues of tasks. Its grouping leaves a worker when its tasks' queues
     * are filled so far on average, and is back when they are filled less than that.
     */
    void refresh(LoadMapping load, double leaves, double isBack) {
        if (spread != null) {
            spread.refresh(load);
        }
        if (!isAllHere && here != null) {
            // Of an executor with several tasks, Storm knows the first one's.
            double mean =
                    tasksHere.stream()
                            .map(load::getLoad)
                            .filter(Load::hasMetrics)
                            .mapToDouble(Load::getBoltLoad)
                            .average()
                            .orElse(0);
            isFullHere = isFullHere ? mean >= isBack : mean > leaves;
        }
    }

    BalanceKind kind() {
        if (byAcks != null && isAcked) {
            return BalanceKind.ACKS;
        }
        if (isAllHere) {
            return BalanceKind.WORKER;
        }
        if (spread == null || isFullHere) {
            return BalanceKind.STORM;
        }
        return spread.share() < 1 ? BalanceKind.EVEN : BalanceKind.WORKER_FIRST;
    }
}
