package io.afterbay.stragglers;

import java.util.Arrays;
import java.util.Comparator;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/**
 * The balance of the paper (section 3.3, algorithm 2), as the baseline of {@link TwoChoices}: tasks
 * get shares of the traffic, and every 5 s the slowest gives 1 % of the traffic to the fastest, the
 * second slowest to the second fastest, and so on, as long as the first of a pair takes more than
 * 1.2 times as long. Latencies are aged by α = 0.5.
 *
 * <p>As printed, with what the print leaves open:
 *
 * <ul>
 *   <li>The loop over the pairs goes up to |A|/2, which pairs the middle with itself, or a pair the
 *       wrong way round. Neither changes anything; here it ends before.
 *   <li>The first latency of a task is taken as it is; aged from 0, new tasks would look fast.
 *   <li>A period without a latency leaves the aged one as it is. A task without any takes no part.
 *   <li>No share becomes negative. A task that has lost all of its traffic has no latencies from
 *       then on, so that it never gets any back. That is the printed algorithm's fault, and is
 *       kept.
 *   <li>A share is the probability with which a tuple goes to the task.
 * </ul>
 *
 * <p>A period ends with the first feedback behind it.
 */
public final class LatencyBalance implements TaskChooser {
    static final long PERIOD_NANOS = 5_000_000_000L;
    static final double ALPHA = 0.5;
    static final double RATIO = 1.2;
    static final double STEP = 0.01;

    private final LongSupplier nanoClock;
    private final SharedRandom random;
    private volatile Shares shares = new Shares(new int[0], new double[0]);

    // What follows is in the order of the ids of shares, and guarded by this.
    private Latency[] latencies = {};
    private long periodStart;

    /** Never changed; a period makes a new one. */
    private record Shares(int[] ids, double[] of) {}

    private static final class Latency {
        private double sum;
        private long count;
        private double aged = Double.NaN;

        void add(long nanos) {
            sum += nanos;
            count++;
        }

        void endPeriod() {
            if (count > 0) {
                double mean = sum / count;
                aged = Double.isNaN(aged) ? mean : ALPHA * mean + (1 - ALPHA) * aged;
                sum = 0;
                count = 0;
            }
        }
    }

    /**
     * @param nanoClock nanoseconds since any moment
     * @param seed of its random numbers; senders should differ
     */
    public LatencyBalance(LongSupplier nanoClock, long seed) {
        this.nanoClock = nanoClock;
        this.random = new SharedRandom(seed);
        this.periodStart = nanoClock.getAsLong();
    }

    /** New tasks get an even share. Those that stay keep theirs in relation to each other. */
    @Override
    public synchronized void setTasks(int... newTasks) {
        int[] ids = TaskIds.checked(newTasks);
        double[] of = new double[ids.length];
        Latency[] kept = new Latency[ids.length];
        for (int i = 0; i < ids.length; i++) {
            int place = Arrays.binarySearch(shares.ids, ids[i]);
            kept[i] = place < 0 ? new Latency() : latencies[place];
            of[i] = place < 0 ? 1 : shares.of[place] * shares.ids.length;
        }
        latencies = kept;
        shares = new Shares(ids, inSumOne(of));
    }

    private static double[] inSumOne(double[] weights) {
        double sum = Arrays.stream(weights).sum();
        return Arrays.stream(weights).map(w -> sum > 0 ? w / sum : 1.0 / weights.length).toArray();
    }

    @Override
    public int choose() {
        return chooseOther(NO_TASK);
    }

    @Override
    public int chooseOther(int avoided) {
        Shares among = shares;
        int gap = Arrays.binarySearch(among.ids, avoided);
        if (gap >= 0 && among.ids.length == 1) {
            return avoided;
        }
        double rest = random.nextDouble() * (gap < 0 ? 1 : 1 - among.of[gap]);
        int last = NO_TASK;
        for (int i = 0; i < among.ids.length; i++) {
            if (i == gap || (among.of[i] <= 0 && last != NO_TASK)) {
                continue;
            }
            last = among.ids[i];
            rest -= among.of[i];
            if (rest < 0) {
                break;
            }
        }
        return last;
    }

    /** Does nothing: the algorithm does not count what is under way. */
    @Override
    public void sent(int task) {}

    @Override
    public synchronized void completed(int task, long latencyNanos) {
        adjustIfDue();
        int place = Arrays.binarySearch(shares.ids, task);
        if (place >= 0) {
            latencies[place].add(Math.max(0, latencyNanos));
        }
    }

    /** Does nothing: the algorithm knows no failures. */
    @Override
    public void failed(int task) {}

    private void adjustIfDue() {
        long now = nanoClock.getAsLong();
        long elapsed = now - periodStart;
        if (elapsed >= PERIOD_NANOS) {
            adjust();
        }
        if (elapsed >= PERIOD_NANOS || elapsed < 0) {
            periodStart = now;
        }
    }

    private void adjust() {
        for (Latency latency : latencies) {
            latency.endPeriod();
        }
        int[] fastestFirst =
                IntStream.range(0, latencies.length)
                        .filter(i -> !Double.isNaN(latencies[i].aged))
                        .boxed()
                        .sorted(Comparator.comparingDouble(i -> latencies[i].aged))
                        .mapToInt(i -> i)
                        .toArray();
        double[] of = shares.of.clone();
        for (int k = 0; k < fastestFirst.length / 2; k++) {
            int slow = fastestFirst[fastestFirst.length - 1 - k];
            int fast = fastestFirst[k];
            if (latencies[slow].aged <= RATIO * latencies[fast].aged) {
                break;
            }
            double step = Math.min(STEP, of[slow]);
            of[slow] -= step;
            of[fast] += step;
        }
        shares = new Shares(shares.ids, of);
    }

    /** The share of the traffic that goes to that task, from 0 to 1; 0 if it is unknown. */
    public double share(int task) {
        Shares among = shares;
        int place = Arrays.binarySearch(among.ids, task);
        return place < 0 ? 0 : among.of[place];
    }

    /** The aged latency of that task at the end of the last period; 0 if nothing is known. */
    public synchronized long latencyNanos(int task) {
        int place = Arrays.binarySearch(shares.ids, task);
        return place < 0 || Double.isNaN(latencies[place].aged) ? 0 : (long) latencies[place].aged;
    }
}
