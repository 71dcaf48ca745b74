package io.afterbay.storm.workloads;

import io.afterbay.handover.stragglers.StragglerPlan;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.HdrHistogram.Histogram;

/**
 * What happened to each tuple of a trial. Storm makes spouts and bolts anew from bytes, in this
 * process: they find it by the trial's name. Safe for use by any thread.
 *
 * <p>Where tuples were sent to and who did them is written without a lock, by one thread for each
 * tuple and stage, before that thread acks; it is read when all are acked.
 */
final class TrialLog {
    private static final Map<String, TrialLog> ALL = new ConcurrentHashMap<>();
    private static final long LATENCY_NANOS_MAX = 3_600_000_000_000L;
    private static final int DIGITS = 3;
    private static final double NANOS_PER_S = 1e9;
    private static final int NO_TASK = -1;

    private final StragglerPlan plan;
    private final Schedule schedule;
    private final int[][] sentTo;
    private final int[][] executedBy;
    private final Map<String, List<Feedback>> feedback = new ConcurrentHashMap<>();
    private volatile long startNanos;
    private volatile boolean isStarted;

    // What follows is guarded by this.
    private final Histogram latencies = new Histogram(LATENCY_NANOS_MAX, DIGITS);
    private final BitSet acked = new BitSet();
    private long twice;
    private long failed;
    private long lastCountedNanos;

    private TrialLog(StragglerPlan plan) {
        this.plan = plan;
        this.schedule = new Schedule(plan);
        this.sentTo = new int[plan.stages()][schedule.tuples()];
        this.executedBy = new int[plan.stages()][schedule.tuples()];
        for (int stage = 0; stage < plan.stages(); stage++) {
            Arrays.fill(sentTo[stage], NO_TASK);
            Arrays.fill(executedBy[stage], NO_TASK);
        }
    }

    /** A grouping that wants to know what became of tuples. */
    @FunctionalInterface
    interface Feedback {
        /**
         * @param sender task that sent the tuple
         * @param task that has done it
         * @param latencyNanos since it was sent
         * @param serviceNanos of that, the time that the task took
         */
        void executed(int sender, int task, long latencyNanos, long serviceNanos);
    }

    static TrialLog open(String trial, StragglerPlan plan) {
        TrialLog log = new TrialLog(plan);
        if (ALL.putIfAbsent(trial, log) != null) {
            throw new IllegalArgumentException("there is a trial '" + trial + "'");
        }
        return log;
    }

    /** One that was opened and not forgotten. */
    static TrialLog of(String trial) {
        TrialLog log = ALL.get(trial);
        if (log == null) {
            throw new IllegalStateException("there is no trial '" + trial + "'");
        }
        return log;
    }

    static void forget(String trial) {
        ALL.remove(trial);
    }

    StragglerPlan plan() {
        return plan;
    }

    Schedule schedule() {
        return schedule;
    }

    /** From now on tuples are due. */
    void start() {
        startNanos = System.nanoTime();
        isStarted = true;
    }

    /** Since the start; negative before it. */
    long elapsedNanos() {
        return isStarted ? System.nanoTime() - startNanos : -1;
    }

    /** Whether the slow task is slow now. */
    boolean isSlowNow() {
        return plan.slowdown() > 1 && plan.counts(elapsedNanos() / NANOS_PER_S);
    }

    void listen(String component, Feedback listener) {
        feedback.computeIfAbsent(component, any -> new CopyOnWriteArrayList<>()).add(listener);
    }

    /** Those who want to know of the tuples of a component. */
    List<Feedback> listeners(String component) {
        return feedback.computeIfAbsent(component, any -> new CopyOnWriteArrayList<>());
    }

    /**
     * @param task to which it went, counted from 0 within the stage
     */
    void sent(int stage, int number, int task) {
        sentTo[stage][number] = task;
    }

    void executed(int stage, int number, int task) {
        executedBy[stage][number] = task;
    }

    synchronized void acked(int number) {
        long now = elapsedNanos();
        if (acked.get(number)) {
            twice++;
            return;
        }
        acked.set(number);
        if (plan.counts(schedule.dueS(number))) {
            long latency = now - schedule.dueNanos(number);
            latencies.recordValue(Math.max(0, Math.min(latency, LATENCY_NANOS_MAX)));
            lastCountedNanos = Math.max(lastCountedNanos, now);
        }
    }

    synchronized void failed() {
        failed++;
    }

    /** How many different tuples were acked. */
    synchronized int ackedTuples() {
        return acked.cardinality();
    }

    synchronized long twice() {
        return twice;
    }

    synchronized long failures() {
        return failed;
    }

    /** Of the tuples that count, in nanoseconds. */
    synchronized Histogram latencies() {
        return latencies.copy();
    }

    /** When the last tuple that counts was acked, after the start. */
    synchronized double lastCountedS() {
        return lastCountedNanos / NANOS_PER_S;
    }

    /** The task of the stage, counted from 0, that a tuple was sent to. */
    int sentTo(int stage, int number) {
        return sentTo[stage][number];
    }

    /** The task of the stage, counted from 0, that did a tuple. */
    int executedBy(int stage, int number) {
        return executedBy[stage][number];
    }
}
