package io.afterbay.storm.workloads;

import io.afterbay.handover.stragglers.StragglerPlan;
import io.afterbay.handover.stragglers.StragglerTopology.Edge;
import io.afterbay.handover.stragglers.StragglerTopology.Machine;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * What happened to each tuple of a trial. Storm makes spouts and bolts anew from bytes, in this
 * process: they find it by the trial's name. Safe for use by any thread.
 *
 * <p>Where tuples were sent to and who did them is written without a lock, by one thread for each
 * tuple and way, before that thread acks; it is read when all are acked. A tuple that was sent
 * twice has no such one thread: then it says nothing.
 */
final class TrialLog {
    private static final Map<String, TrialLog> ALL = new ConcurrentHashMap<>();
    private static final long LATENCY_NANOS_MAX = 3_600_000_000_000L;
    private static final int DIGITS = 3;
    private static final double NANOS_PER_S = 1e9;
    private static final int NO_TASK = -1;

    private final StragglerPlan plan;
    private final LimitedWorkers limited;
    private final Schedule schedule;
    private final QueueTimes queueTimes;
    private final List<Edge> edges;
    private final int[][] sentTo;
    private final int[][] executedBy;
    private final AtomicLong executions = new AtomicLong();
    private final AtomicLongArray[] countedExecutions;
    private final AtomicLongArray bySecond;
    private final AtomicLongArray ofFirstTaskBySecond;
    private final AtomicLong repeats = new AtomicLong();
    private final AtomicLong repeatsWon = new AtomicLong();
    private final Map<String, List<Feedback>> feedback = new ConcurrentHashMap<>();
    private final BitSet readySources = new BitSet(); // guarded by itself
    private final Map<Integer, SharedMachine> machines = new ConcurrentHashMap<>();
    private volatile long startNanos;
    private volatile boolean isStarted;

    // What follows is guarded by this.
    private final Histogram latencies = new Histogram(LATENCY_NANOS_MAX, DIGITS);
    private final BitSet acked = new BitSet();
    private long twice;
    private long failed;
    private long lastCountedNanos;

    private TrialLog(StragglerPlan plan, LimitedWorkers limited) {
        this.plan = plan;
        this.limited = limited;
        this.schedule = new Schedule(plan);
        this.queueTimes = new QueueTimes(plan, schedule);
        this.edges = plan.topology().edges();
        this.sentTo = noTasks(edges.size(), schedule.tuples());
        this.executedBy = noTasks(edges.size(), schedule.tuples());
        this.countedExecutions =
                plan.topology().stages().stream()
                        .map(stage -> new AtomicLongArray(stage.tasks()))
                        .toArray(AtomicLongArray[]::new);
        int seconds = (int) Math.ceil(plan.endS());
        this.bySecond = new AtomicLongArray(seconds);
        this.ofFirstTaskBySecond = new AtomicLongArray(seconds);
    }

    private static int[][] noTasks(int edges, int tuples) {
        int[][] none = new int[edges][tuples];
        for (int[] edge : none) {
            Arrays.fill(edge, NO_TASK);
        }
        return none;
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

    static TrialLog open(String trial, StragglerPlan plan, LimitedWorkers limited) {
        TrialLog log = new TrialLog(plan, limited);
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

    /** How long tuples wait in queues. */
    QueueTimes queueTimes() {
        return queueTimes;
    }

    /** The ways that tuples take. */
    List<Edge> edges() {
        return edges;
    }

    /** A task of the source can send. When all can, tuples begin to be due. */
    void ready(int source) {
        synchronized (readySources) {
            readySources.set(source);
            if (!isStarted && readySources.cardinality() == plan.topology().sources()) {
                startNanos = System.nanoTime();
                isStarted = true;
            }
        }
    }

    /** Since the start; negative before it. */
    long elapsedNanos() {
        return isStarted ? System.nanoTime() - startNanos : -1;
    }

    /**
     * The source emits a tuple for the first time.
     *
     * @param nanos when, by {@link System#nanoTime}
     */
    void emitted(int number, long nanos) {
        queueTimes.held(number, nanos - startNanos - schedule.dueNanos(number));
    }

    /** Whether the slow task is slow now. */
    boolean isSlowNow() {
        return plan.load().slowdown() > 1 && plan.counts(elapsedNanos() / NANOS_PER_S);
    }

    /**
     * What the tasks of a worker share; null if they share nothing.
     *
     * @param port of the worker
     */
    @Nullable SharedMachine machine(int port) {
        List<Machine> all = plan.topology().machines();
        // Workers have ports that follow each other.
        return all.isEmpty()
                ? null
                : machines.computeIfAbsent(
                        port,
                        any -> new SharedMachine(all.get(port % all.size()), System.nanoTime()));
    }

    /** The workers, where what they may use is limited; else none. */
    LimitedWorkers limited() {
        return limited;
    }

    /** How many of the plan's machines have a worker. */
    int machinesInUse() {
        int all = plan.topology().machines().size();
        return (int) machines.keySet().stream().map(port -> port % all).distinct().count();
    }

    void listen(String component, Feedback listener) {
        feedback.computeIfAbsent(component, any -> new CopyOnWriteArrayList<>()).add(listener);
    }

    /** Those who want to know of the tuples of a component. */
    List<Feedback> listeners(String component) {
        return feedback.computeIfAbsent(component, any -> new CopyOnWriteArrayList<>());
    }

    /**
     * @param edge the way that it takes, by its place in {@link #edges}
     * @param task to which it went, counted from 0 within the stage
     */
    void sent(int edge, int number, int task) {
        sentTo[edge][number] = task;
    }

    /**
     * @param edge the way that it came
     * @param task that has done it, counted from 0 within the stage
     */
    void executed(int edge, int number, int task) {
        int stage = edges.get(edge).to();
        double dueS = schedule.dueS(number);
        executedBy[edge][number] = task;
        if (plan.counts(dueS)) {
            countedExecutions[stage].incrementAndGet(task);
        }
        if (stage == 0) {
            bySecond.incrementAndGet((int) dueS);
        }
        if (stage == 0 && task == 0) {
            ofFirstTaskBySecond.incrementAndGet((int) dueS);
        }
        executions.incrementAndGet();
    }

    /** A source sends a tuple a second time. */
    void repeated() {
        repeats.incrementAndGet();
    }

    /**
     * @param isSecond whether it is the second instance that was done first
     */
    synchronized void acked(int number, boolean isSecond) {
        long now = elapsedNanos();
        if (acked.get(number)) {
            twice++;
            return;
        }
        acked.set(number);
        if (isSecond) {
            repeatsWon.incrementAndGet();
        }
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
    int sentTo(int edge, int number) {
        return sentTo[edge][number];
    }

    /** The task of the stage, counted from 0, that did a tuple. */
    int executedBy(int edge, int number) {
        return executedBy[edge][number];
    }

    /** What all tasks have done; a tuple counts for each. */
    long executions() {
        return executions.get();
    }

    /** What tasks of a stage have done for tuples that count. */
    List<Long> countedExecutions(int stage) {
        return values(countedExecutions[stage]);
    }

    /** What the first stage did by the second in which tuples were due. */
    List<Long> bySecond() {
        return values(bySecond);
    }

    /** The same of its first task. */
    List<Long> ofFirstTaskBySecond() {
        return values(ofFirstTaskBySecond);
    }

    private static List<Long> values(AtomicLongArray of) {
        return IntStream.range(0, of.length()).mapToObj(of::get).toList();
    }

    /** Tuples that were sent twice at once, by the source. */
    long repeats() {
        return repeats.get();
    }

    /** Of these, those whose second instance was done first. */
    long repeatsWon() {
        return repeatsWon.get();
    }
}
