package io.afterbay.storm;

import io.afterbay.stragglers.TaskChooser;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.storm.generated.NodeInfo;
import org.apache.storm.grouping.Load;
import org.apache.storm.grouping.LoadMapping;
import org.jspecify.annotations.Nullable;

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
 * is what stays. Of what leaves, tasks get the less the fuller their queues are.
 *
 * <p>Safe for use by any thread.
 */
final class EvenSpread {
    /** Multiples of it, without what is before the point, are spread evenly from the first on. */
    private static final double GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;

    /** A task whose queue is fuller than the emptiest one by a tenth gets hardly anything. */
    private static final double STEEPNESS = 10;

    /** What a task gets at least, to what that with the emptiest queue gets. */
    private static final double WEIGHT_MIN = 0.01;

    private final List<Integer> tasks;
    private final double tasksHere;
    private final double sendersHere;
    private final List<Integer> elsewhere;
    private final @Nullable AtomicReference<Map<Integer, NodeInfo>> places;

    /** From anywhere, so that workers that begin together do not send to the same tasks. */
    private final AtomicLong tuples = new AtomicLong(ThreadLocalRandom.current().nextInt(1 << 20));

    private volatile @Nullable Stay stay;

    /** Of each task elsewhere, the part of what leaves that it and those before it get. */
    private volatile double[] upTo;

    /**
     * How much stays.
     *
     * @param places where Storm has placed tasks; another object when it has placed them anew
     */
    private record Stay(@Nullable Map<Integer, NodeInfo> places, double share) {}

    /**
     * @param tasks of the bolt
     * @param here those in this worker
     * @param sendersHere the share of the senders that are in this worker, above 0
     * @param places of tasks in all workers that this one sends to, as Storm has them at the moment
     */
    EvenSpread(
            List<Integer> tasks,
            Collection<Integer> here,
            double sendersHere,
            @Nullable AtomicReference<Map<Integer, NodeInfo>> places) {
        this.tasks = tasks;
        this.tasksHere = (double) here.size() / tasks.size();
        this.sendersHere = sendersHere;
        this.elsewhere = tasks.stream().filter(task -> !here.contains(task)).toList();
        this.upTo = upTo(elsewhere, new LoadMapping());
        this.places = places;
    }

    /** A task elsewhere for the next tuple; {@link TaskChooser#NO_TASK} if it stays. */
    int next() {
        double staying = share();
        double turn = tuples.getAndIncrement() * GOLDEN_RATIO;
        double at = turn - Math.floor(turn);
        if (at < staying) {
            return TaskChooser.NO_TASK;
        }
        return elsewhere.get(index((at - staying) / (1 - staying)));
    }

    /**
     * @param at from 0 to 1
     */
    private int index(double at) {
        double[] parts = upTo;
        int i = 0;
        while (i < parts.length - 1 && parts[i] <= at) {
            i++;
        }
        return i;
    }

    /** What stays of this worker's tuples, from 0 to 1. */
    double share() {
        Map<Integer, NodeInfo> now = places == null ? null : places.get();
        Stay known = stay;
        if (known == null || known.places != now) {
            known = new Stay(now, share(now == null ? Map.of() : now));
            stay = known;
        }
        return known.share;
    }

    private double share(Map<Integer, NodeInfo> placed) {
        Set<NodeInfo> withTasks = new HashSet<>();
        tasks.stream().filter(placed::containsKey).map(placed::get).forEach(withTasks::add);
        boolean isEverywhere = withTasks.containsAll(placed.values());
        return isEverywhere ? Math.min(1, tasksHere / sendersHere) : tasksHere;
    }

    /** What Storm knows of the queues of tasks. */
    void refresh(LoadMapping load) {
        upTo = upTo(elsewhere, load);
    }

    private static double[] upTo(List<Integer> tasks, LoadMapping load) {
        double[] loads = tasks.stream().map(load::getLoad).mapToDouble(EvenSpread::queue).toArray();
        double least = Arrays.stream(loads).min().orElse(0);
        double[] sums = new double[loads.length];
        double sum = 0;
        for (int i = 0; i < sums.length; i++) {
            sum += Math.max(WEIGHT_MIN, 1 - STEEPNESS * (loads[i] - least));
            sums[i] = sum;
        }
        for (int i = 0; i < sums.length; i++) {
            sums[i] /= sum;
        }
        return sums;
    }

    /** How far it is filled; 0 if Storm knows nothing. */
    private static double queue(Load load) {
        return load.hasMetrics() ? load.getBoltLoad() : 0;
    }
}
