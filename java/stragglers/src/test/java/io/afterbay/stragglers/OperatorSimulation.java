package io.afterbay.stragglers;

import static io.afterbay.stragglers.VirtualTime.SECONDS;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/**
 * Senders with a policy each, and the tasks of an operator, each with a queue of its own and one
 * server, in simulated time. Arrivals are random, and so is the service of a tuple: 450 a second at
 * full speed, as in the paper (section 5.1.2). Senders hear of a tuple when it is done.
 */
final class OperatorSimulation extends Simulation {
    static final double SERVICES_PER_SECOND = 450;

    /** Storm's, by default. */
    static final long TIMEOUT_NANOS = 30 * SECONDS;

    /**
     * What is behind the operator, and part of a tuple's latency, for each tuple: nothing, unless
     * it is set.
     */
    LongSupplier downstreamNanos = () -> 0;

    /** Which tuples are lost behind the operator, so that they fail after a timeout: none. */
    BooleanSupplier isLost = () -> false;

    final List<TaskChooser> senders = new ArrayList<>();
    private final Task[] tasks;

    private final class Task {
        private final int id;
        private final SplittableRandom random;
        private final SimulatedTask task = new SimulatedTask(time, this::serviceNanos);
        private double slowness = 1;
        private long stalledUntil;

        Task(int id, SplittableRandom random) {
            this.id = id;
            this.random = random;
        }

        void add(Runnable whenDone) {
            task.add(
                    () -> {
                        done[id]++;
                        time.after(downstreamNanos.getAsLong(), whenDone);
                    });
        }

        private long serviceNanos() {
            double mean = slowness * SECONDS / SERVICES_PER_SECOND;
            long stall = Math.max(0, stalledUntil - time.now());
            return stall + VirtualTime.exponential(random, mean);
        }
    }

    /**
     * @param policy of a sender with that seed
     */
    OperatorSimulation(
            int taskCount, int senderCount, double arrivalsPerSecond, long seed, Policy policy) {
        super(taskCount);
        SplittableRandom random = new SplittableRandom(seed);
        tasks = new Task[taskCount];
        Arrays.setAll(tasks, id -> new Task(id, random.split()));
        for (int i = 0; i < senderCount; i++) {
            TaskChooser sender = policy.of(time, random.nextLong());
            sender.setTasks(IntStream.range(0, taskCount).toArray());
            senders.add(sender);
            time.repeat(random.split(), arrivalsPerSecond / senderCount, () -> send(sender));
        }
    }

    /** Makes the policy of a sender. */
    interface Policy {
        Policy TWO_CHOICES = (time, seed) -> new TwoChoices(time::now, seed);
        Policy BY_ACKS = (time, seed) -> TwoChoices.byAcks(time::now, seed);
        Policy LATENCY_BALANCE = (time, seed) -> new LatencyBalance(time::now, seed);
        Policy SHUFFLE = (time, seed) -> new RandomTask(seed);

        TaskChooser of(VirtualTime time, long seed);
    }

    private void send(TaskChooser sender) {
        long sent = time.now();
        int task = sender.choose();
        sender.sent(task);
        tasks[task].add(
                () -> {
                    if (isLost.getAsBoolean()) {
                        time.after(TIMEOUT_NANOS, () -> sender.failed(task));
                        return;
                    }
                    long latency = time.now() - sent;
                    sender.completed(task, latency);
                    latencies.recordValue(latency);
                });
    }

    /** From now on, a task takes so many times as long. */
    void slow(int task, double times) {
        tasks[task].slowness = times;
    }

    /** A task begins with nothing for some time. */
    void stall(int task, long nanos) {
        tasks[task].stalledUntil = time.now() + nanos;
    }

    /** A tuple of somebody else goes to a task. */
    void give(int task, Runnable whenDone) {
        tasks[task].add(whenDone);
    }
}
