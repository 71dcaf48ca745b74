package io.afterbay.storm;

import io.afterbay.stragglers.TaskChooser;
import io.afterbay.stragglers.WeightedTurns;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.apache.storm.generated.NodeInfo;
import org.apache.storm.grouping.Load;
import org.apache.storm.grouping.LoadMapping;

/**
 * Which tuples leave a worker that has some of a bolt's tasks or none, so that no task gets more
 * than others. Of the worker's tuples, this share stays:
 *
 * <pre>
 *    tasks here     senders here
 *   ------------ / --------------    but not more than all
 *    all tasks      all senders
 * </pre>
 *
 * <p>That is enough if all workers have tasks of the bolt. Where one is known to have none, its
 * senders' tuples are spread over all tasks, and so must all others be: then tasks here / all tasks
 * is what stays. What leaves goes to tasks elsewhere by turns; the fuller a task's queue is, and
 * the way to it, the less it gets.
 *
 * <p>Safe for use by any thread.
 */
final class EvenSpread {
    /** A task whose queue is fuller than the emptiest one by a tenth gets hardly anything. */
    private static final double STEEPNESS = 10;

    /** What a task gets at least, to what it gets with the emptiest queue. */
    private static final double WEIGHT_MIN = 0.01;

    /** That of Storm's own grouping. A worker tells of its queues every 5 s. */
    private static final double CHANGE_PER_S_MAX = 0.1;

    private final List<Integer> tasks;
    private final double tasksHere;
    private final double sendersHere;
    private final List<Integer> elsewhere;
    private final AtomicReference<Map<Integer, NodeInfo>> places;
    private final LongSupplier nanoClock;

    /** First what stays, then each task elsewhere. Workers that begin together begin anywhere. */
    private final WeightedTurns turns = new WeightedTurns(ThreadLocalRandom.current().nextLong());

    /** Of tasks elsewhere, from {@value #WEIGHT_MIN} to 1. Guarded by this, as is the next. */
    private final double[] weights;

    private long refreshedNanos;
    private volatile double share;

    /**
     * @param tasks of the bolt
     * @param here those in this worker
     * @param sendersHere the share of the senders that are in this worker, above 0
     * @param places of tasks that this worker sends to, as Storm has them at the moment
     * @param nanoClock as {@link System#nanoTime}
     */
    EvenSpread(
            Collection<Integer> tasks,
            Collection<Integer> here,
            double sendersHere,
            AtomicReference<Map<Integer, NodeInfo>> places,
            LongSupplier nanoClock) {
        this.tasks = tasks.stream().sorted().toList();
        this.tasksHere = (double) here.size() / tasks.size();
        this.sendersHere = sendersHere;
        this.elsewhere = this.tasks.stream().filter(task -> !here.contains(task)).toList();
        this.places = places;
        this.nanoClock = nanoClock;
        this.weights = new double[elsewhere.size()];
        Arrays.fill(weights, 1);
        this.refreshedNanos = nanoClock.getAsLong();
        setTurns();
    }

    /** A task elsewhere for the next tuple; {@link TaskChooser#NO_TASK} if it stays. */
    int next() {
        int turn = share == 1 ? 0 : turns.next();
        return turn == 0 ? TaskChooser.NO_TASK : elsewhere.get(turn - 1);
    }

    /** What stays of this worker's tuples, from 0 to 1. */
    double share() {
        return share;
    }

    /** What Storm knows now of queues, and of where tasks are. */
    synchronized void refresh(LoadMapping load) {
        long now = nanoClock.getAsLong();
        double seconds = (double) (now - refreshedNanos) / TimeUnit.SECONDS.toNanos(1);
        double change = CHANGE_PER_S_MAX * Math.max(0, seconds);
        refreshedNanos = now;
        double[] loads = loads(load);
        double least = Arrays.stream(loads).min().orElse(0);
        for (int i = 0; i < weights.length; i++) {
            double wanted = Math.max(WEIGHT_MIN, 1 - STEEPNESS * (loads[i] - least));
            weights[i] += Math.max(-change, Math.min(change, wanted - weights[i]));
        }
        setTurns();
    }

    /**
     * Of tasks elsewhere, from 0 to 1, which is also that of a task whose worker is not connected.
     * Storm knows that of the first task of each executor, which is that of its others, too.
     */
    private double[] loads(LoadMapping load) {
        Map<Integer, NodeInfo> placed = places.get();
        double[] loads = new double[weights.length];
        for (int i = 0; i < loads.length; i++) {
            Load of = load.getLoad(elsewhere.get(i));
            boolean isAsBefore =
                    i > 0
                            && !of.hasMetrics()
                            && Objects.equals(
                                    placed.get(elsewhere.get(i)), placed.get(elsewhere.get(i - 1)));
            loads[i] = isAsBefore ? loads[i - 1] : of.getLoad();
        }
        return loads;
    }

    private void setTurns() {
        double stays = stays();
        double sum = Arrays.stream(weights).sum();
        double[] shares = new double[1 + weights.length];
        shares[0] = stays;
        for (int i = 0; i < weights.length; i++) {
            shares[i + 1] = (1 - stays) * weights[i] / sum;
        }
        turns.setWeights(shares);
        share = stays;
    }

    private double stays() {
        Map<Integer, NodeInfo> placed = places.get();
        Set<NodeInfo> withTasks = new HashSet<>();
        tasks.stream().filter(placed::containsKey).map(placed::get).forEach(withTasks::add);
        boolean isEverywhere = withTasks.containsAll(placed.values());
        return isEverywhere ? Math.min(1, tasksHere / sendersHere) : tasksHere;
    }
}
