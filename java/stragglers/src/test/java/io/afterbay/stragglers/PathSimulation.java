package io.afterbay.stragglers;

import static io.afterbay.stragglers.VirtualTime.MILLIS;
import static io.afterbay.stragglers.VirtualTime.SECONDS;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Three bolts in a row on several workers, of which each has a source and a task of each bolt, in
 * simulated time. The tasks of a worker take turns on its processors, in the order in which they
 * ask, and each does one tuple after the other. Arrivals are random, and so is the work of a tuple.
 *
 * <pre>
 *   worker 0   source - task - task - task      1 processor
 *                    \ /    \ /    \ /
 *   worker 1   source - task - task - task      2 processors
 * </pre>
 */
final class PathSimulation extends Simulation {
    private static final int BOLTS = 3;
    private static final double SERVICES_PER_SECOND = 450;

    /** A tuple's way to a task, and that of its ack: Storm's threads look every millisecond. */
    private static final long HOP_NANOS = MILLIS / 2;

    private final Senders policy;
    private final Worker[] workers;

    /** Who chooses the worker for a source's tuples, and for those of a bolt's task. */
    enum Senders {
        /** Any worker, at random, for each bolt. */
        SHUFFLE(Choosers::anywhere, Choosers::anywhere),

        /** Nothing leaves its source's worker: Storm's own, until queues are nearly full. */
        OWN_WORKER(Choosers::own, Choosers::own),

        /** The paper's, at each sender. */
        LATENCY_BALANCE(Choosers::balance, Choosers::balance),

        /** Sources choose by acks, and bolts among the tasks of their worker, here one. */
        BALANCED(Choosers::byAcks, Choosers::own);

        private final Maker source;
        private final Maker task;

        Senders(Maker source, Maker task) {
            this.source = source;
            this.task = task;
        }
    }

    /** Makes the chooser of a sender. */
    @FunctionalInterface
    private interface Maker {
        TaskChooser of(VirtualTime time, long seed, int[] workers, int own);
    }

    private static final class Choosers {
        static TaskChooser anywhere(VirtualTime time, long seed, int[] workers, int own) {
            return among(new RandomTask(seed), workers);
        }

        static TaskChooser own(VirtualTime time, long seed, int[] workers, int own) {
            return among(new RandomTask(seed), own);
        }

        static TaskChooser balance(VirtualTime time, long seed, int[] workers, int own) {
            return among(new LatencyBalance(time::now, seed), workers);
        }

        static TaskChooser byAcks(VirtualTime time, long seed, int[] workers, int own) {
            return among(TwoChoices.byAcks(time::now, seed), workers);
        }

        private static TaskChooser among(TaskChooser chooser, int... workers) {
            chooser.setTasks(workers);
            return chooser;
        }
    }

    private final class Worker {
        final TaskChooser source;
        final Task[] tasks;

        /** When each processor is free. */
        long[] freeNanos;

        Worker(int id, int processors, int[] all, SplittableRandom random) {
            freeNanos = new long[processors];
            source = policy.source.of(time, random.nextLong(), all, id);
            tasks = new Task[BOLTS];
            Arrays.setAll(
                    tasks,
                    bolt ->
                            new Task(
                                    this,
                                    policy.task.of(time, random.nextLong(), all, id),
                                    random.split()));
        }

        /** When work that a task asks for now is done. */
        long doneNanos(long work) {
            int first = 0;
            for (int i = 1; i < freeNanos.length; i++) {
                first = freeNanos[i] < freeNanos[first] ? i : first;
            }
            freeNanos[first] = Math.max(time.now(), freeNanos[first]) + work;
            return freeNanos[first];
        }
    }

    private final class Task {
        private final Worker worker;
        private final TaskChooser sender;
        private final SplittableRandom random;
        private final SimulatedTask task = new SimulatedTask(time, this::serviceNanos);

        Task(Worker worker, TaskChooser sender, SplittableRandom random) {
            this.worker = worker;
            this.sender = sender;
            this.random = random;
        }

        private long serviceNanos() {
            long work = VirtualTime.exponential(random, SECONDS / SERVICES_PER_SECOND);
            return worker.doneNanos(work) - time.now();
        }
    }

    /**
     * @param processors of each worker
     */
    PathSimulation(Senders policy, List<Integer> processors, double arrivalsPerSecond, long seed) {
        super(processors.size());
        this.policy = policy;
        int count = processors.size();
        int[] all = IntStream.range(0, count).toArray();
        SplittableRandom random = new SplittableRandom(seed);
        workers = new Worker[count];
        Arrays.setAll(workers, id -> new Worker(id, processors.get(id), all, random.split()));
        for (Worker worker : workers) {
            time.repeat(random.split(), arrivalsPerSecond / count, () -> emit(worker.source));
        }
    }

    private void emit(TaskChooser source) {
        long emitted = time.now();
        int first = source.choose();
        source.sent(first);
        Runnable acked =
                () -> {
                    latencies.recordValue(time.now() - emitted);
                    if (policy == Senders.BALANCED) {
                        source.completed(first, time.now() - emitted);
                    }
                };
        time.after(
                HOP_NANOS,
                () ->
                        workers[first].tasks[0].task.add(
                                () -> {
                                    done[first]++;
                                    if (policy != Senders.BALANCED) {
                                        source.completed(first, time.now() - emitted);
                                    }
                                    passOn(first, 0, acked);
                                }));
    }

    /** From the bolt's task in that worker to the next bolt. */
    private void passOn(int worker, int bolt, Runnable acked) {
        if (bolt == BOLTS - 1) {
            time.after(2 * HOP_NANOS, acked);
            return;
        }
        long sent = time.now();
        TaskChooser sender = workers[worker].tasks[bolt].sender;
        int next = sender.choose();
        sender.sent(next);
        time.after(
                HOP_NANOS,
                () ->
                        workers[next].tasks[bolt + 1].task.add(
                                () -> {
                                    sender.completed(next, time.now() - sent);
                                    passOn(next, bolt + 1, acked);
                                }));
    }

    /** From now on, a worker has so many processors, with nothing under way. */
    void setProcessors(int worker, int count) {
        workers[worker].freeNanos = new long[count];
    }

    /** Nothing is done in a worker for some time. */
    void stall(int worker, long nanos) {
        long[] free = workers[worker].freeNanos;
        Arrays.setAll(free, i -> Math.max(free[i], time.now()) + nanos);
    }

    int workers() {
        return workers.length;
    }
}
