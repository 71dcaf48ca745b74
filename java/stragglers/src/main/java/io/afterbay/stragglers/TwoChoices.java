package io.afterbay.stragglers;

import java.util.Arrays;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The better of two random tasks for each tuple: the one with the smaller
 *
 * <pre>
 *   score = (outstanding + 1) * service time        nanoseconds until one more tuple would be done
 * </pre>
 *
 * <p>(Mitzenmacher, "The power of two choices in randomized load balancing", IEEE TPDS 2001, with
 * queues weighed by the speed of their servers.) The paper rejects two choices (section 3.3), since
 * tasks would have to tell their load all the time, and what they told was stale and made the load
 * oscillate. Here nobody tells anything: a sender counts what it has sent and not got back, which
 * is never stale, and measures how long a task takes for it ({@link TaskLoad} says how).
 *
 * <ul>
 *   <li>A task that hangs is left alone at once: the service time is at least the time that the
 *       task has spent on its oldest tuple.
 *   <li>A task that was slow is tried again: while it has nothing to do, its service time halves
 *       every second, down to that of the other one. The result of one try then counts for nearly
 *       all. A task that stays 1,000 times slower costs one tuple every 10 s.
 *   <li>A new task counts as fast as the other one until it has completed a tuple.
 *   <li>A failure makes no task look faster.
 *   <li>Of scores that differ by less than a fifth, either is taken. That is the error of a mean
 *       service time, and who follows it drives all tuples to and fro between equal tasks.
 * </ul>
 *
 * <p>ADR 0061 has the alternatives.
 */
public final class TwoChoices implements TaskChooser {
    static final double HALF_LIFE_NANOS = 1e9;

    /** Scores within this ratio are equal. */
    static final double RATIO = 1.2;

    private final LongSupplier nanoClock;
    private final SharedRandom random;
    private final double idleHalfLifeNanos;
    private volatile Tasks tasks = new Tasks(new int[0], new TaskLoad[0]);

    private record Tasks(int[] ids, TaskLoad[] loads) {}

    /**
     * @param nanoClock nanoseconds since any moment; safe for use by any thread
     * @param seed of its random numbers; senders should differ
     */
    public TwoChoices(LongSupplier nanoClock, long seed) {
        this(nanoClock, seed, HALF_LIFE_NANOS);
    }

    /**
     * @param idleHalfLifeNanos in which a slow task that is idle is forgiven half of it; infinite
     *     for never
     */
    TwoChoices(LongSupplier nanoClock, long seed, double idleHalfLifeNanos) {
        this.nanoClock = nanoClock;
        this.random = new SharedRandom(seed);
        this.idleHalfLifeNanos = idleHalfLifeNanos;
    }

    @Override
    public synchronized void setTasks(int... newTasks) {
        int[] ids = TaskIds.checked(newTasks);
        TaskLoad[] loads = new TaskLoad[ids.length];
        for (int i = 0; i < ids.length; i++) {
            TaskLoad known = load(ids[i]);
            loads[i] = known != null ? known : newLoad();
        }
        tasks = new Tasks(ids, loads);
    }

    private TaskLoad newLoad() {
        return new TaskLoad(HALF_LIFE_NANOS, idleHalfLifeNanos, nanoClock.getAsLong());
    }

    @Override
    public int choose() {
        return chooseOther(NO_TASK);
    }

    @Override
    public int chooseOther(int avoided) {
        Tasks among = tasks;
        int left = among.ids.length;
        int gap = Arrays.binarySearch(among.ids, avoided);
        if (gap < 0 || left == 1) {
            gap = left;
        } else {
            left--;
        }
        if (left < 2) {
            return left == 0 ? NO_TASK : among.ids[gap == 0 ? 1 : 0];
        }
        long bits = random.nextLong();
        int first = SharedRandom.upper(bits, left);
        int second = SharedRandom.lower(bits, left - 1);
        second += second >= first ? 1 : 0;
        return better(among, beyond(gap, first), beyond(gap, second));
    }

    /** The place of the n-th task, of those without the one in the gap. */
    private static int beyond(int gap, int n) {
        return n < gap ? n : n + 1;
    }

    private int better(Tasks among, int a, int b) {
        TaskLoad first = among.loads[a];
        TaskLoad second = among.loads[b];
        long now = nanoClock.getAsLong();
        boolean isFirst = first.scoreBeside(second, now) <= RATIO * second.scoreBeside(first, now);
        return among.ids[isFirst ? a : b];
    }

    @Override
    public void sent(int task) {
        TaskLoad load = load(task);
        if (load != null) {
            load.sent(nanoClock.getAsLong());
        }
    }

    @Override
    public void completed(int task, long latencyNanos) {
        TaskLoad load = load(task);
        if (load != null) {
            load.completed(latencyNanos, nanoClock.getAsLong());
        }
    }

    @Override
    public void failed(int task) {
        TaskLoad load = load(task);
        if (load != null) {
            load.failed(nanoClock.getAsLong());
        }
    }

    private @Nullable TaskLoad load(int task) {
        Tasks among = tasks;
        int place = Arrays.binarySearch(among.ids, task);
        return place < 0 ? null : among.loads[place];
    }

    /** Tuples that were sent to that task and are not back; 0 if it is unknown. */
    public int outstanding(int task) {
        TaskLoad load = load(task);
        return load == null ? 0 : load.outstanding();
    }

    /** The mean service time of that task, without ageing; 0 if nothing is known. */
    public long serviceNanos(int task) {
        TaskLoad load = load(task);
        return load == null ? 0 : (long) Math.max(0, load.serviceNanos());
    }
}
