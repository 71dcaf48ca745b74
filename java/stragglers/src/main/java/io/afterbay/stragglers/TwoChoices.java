package io.afterbay.stragglers;

import java.util.Arrays;
import java.util.function.LongFunction;
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
 *       all, however many tuples were before it ({@link AgedMean}). A task that stays 1,000 times
 *       slower costs one tuple every 10 s.
 *   <li>A new task counts as fast as the other one until it has completed a tuple.
 *   <li>A failure makes no task look faster.
 *   <li>Of scores that differ by less than a fifth, either is taken. That is the error of a mean
 *       service time, and who follows it drives all tuples to and fro between equal tasks.
 * </ul>
 *
 * <p>A source that hears only of the end of a tuple's whole path takes {@link #byAcks}.
 *
 * <p>ADR 0061 and 0065 have the alternatives.
 */
public final class TwoChoices implements TaskChooser {
    static final double HALF_LIFE_NANOS = 1e9;

    /** Scores within this ratio are equal. */
    static final double RATIO = 1.2;

    private final LongSupplier nanoClock;
    private final SharedRandom random;
    private final LongFunction<Load> newLoad;
    private volatile Tasks tasks = new Tasks(new int[0], new Load[0]);

    private record Tasks(int[] ids, Load[] loads) {}

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
        this(
                nanoClock,
                seed,
                (LongFunction<Load>) now -> new TaskLoad(HALF_LIFE_NANOS, idleHalfLifeNanos, now));
    }

    private TwoChoices(LongSupplier nanoClock, long seed, LongFunction<Load> newLoad) {
        this.nanoClock = nanoClock;
        this.random = new SharedRandom(seed);
        this.newLoad = newLoad;
    }

    /**
     * For a sender that hears of a tuple when all that came of it is done, not when the task is
     * done with it: a source with acks. The tasks are the first ones of the path. {@code completed}
     * has the latency of the whole path; {@link #serviceNanos} is its mean. {@link PathLoad} says
     * what that tells of the first task.
     *
     * @param nanoClock nanoseconds since any moment; safe for use by any thread
     * @param seed of its random numbers; senders should differ
     */
    public static TwoChoices byAcks(LongSupplier nanoClock, long seed) {
        return new TwoChoices(
                nanoClock,
                seed,
                (LongFunction<Load>) now -> new PathLoad(HALF_LIFE_NANOS, HALF_LIFE_NANOS, now));
    }

    @Override
    public synchronized void setTasks(int... newTasks) {
        int[] ids = TaskIds.checked(newTasks);
        Load[] loads = new Load[ids.length];
        for (int i = 0; i < ids.length; i++) {
            Load known = load(ids[i]);
            loads[i] = known != null ? known : newLoad.apply(nanoClock.getAsLong());
        }
        tasks = new Tasks(ids, loads);
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
        Load first = among.loads[a];
        Load second = among.loads[b];
        long now = nanoClock.getAsLong();
        boolean isFirst = first.scoreBeside(second, now) <= RATIO * second.scoreBeside(first, now);
        return among.ids[isFirst ? a : b];
    }

    @Override
    public void sent(int task) {
        Load load = load(task);
        if (load != null) {
            load.sent(nanoClock.getAsLong());
        }
    }

    @Override
    public void completed(int task, long latencyNanos) {
        Load load = load(task);
        if (load != null) {
            load.completed(latencyNanos, nanoClock.getAsLong());
        }
    }

    @Override
    public void failed(int task) {
        Load load = load(task);
        if (load != null) {
            load.failed(nanoClock.getAsLong());
        }
    }

    private @Nullable Load load(int task) {
        Tasks among = tasks;
        int place = Arrays.binarySearch(among.ids, task);
        return place < 0 ? null : among.loads[place];
    }

    /** Tuples that were sent to that task and are not back; 0 if it is unknown. */
    public int outstanding(int task) {
        Load load = load(task);
        return load == null ? 0 : load.outstanding();
    }

    /** The mean service time of that task, without ageing; 0 if nothing is known. */
    public long serviceNanos(int task) {
        Load load = load(task);
        return load == null ? 0 : (long) Math.max(0, load.meanNanos());
    }
}
