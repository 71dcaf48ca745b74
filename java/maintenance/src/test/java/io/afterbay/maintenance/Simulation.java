package io.afterbay.maintenance;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/** Runs the policy in virtual time: tasks take as long as they say, threads cost nothing. */
final class Simulation {
    private record Event(long nanos, long order, Runnable action) {}

    private record Work(int instance, long durationNanos, Runnable atEnd) implements Runnable {
        @Override
        public void run() {
            atEnd.run();
        }
    }

    record Start(Kind kind, int instance, long nanos) {}

    final BurstDelay delay;
    final List<MaintenanceInstance> instances = new ArrayList<>();
    final List<Start> starts = new ArrayList<>();
    final TaskQueues queues;
    long now;
    private final int threads;
    private final BurstGate gate;
    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparing(Event::nanos).thenComparing(Event::order));
    private final Map<Kind, Integer> running = new EnumMap<>(Kind.class);
    private final Map<Kind, Integer> mostRunning = new EnumMap<>(Kind.class);
    private int runningTasks;
    private long order;

    /** How often a deferrable task was at work together with a flush, seen when tasks begin. */
    int mixedStarts;

    Simulation(MaintenanceSettings settings, int count) {
        threads = settings.threads();
        delay = new BurstDelay(settings.maxPauseNanos());
        gate = BurstGate.of(settings, delay);
        queues = new TaskQueues(settings, gate);
        MaintenanceScheduler unused = new MaintenanceScheduler(settings);
        for (int i = 0; i < count; i++) {
            instances.add(queues.add("instance-" + i, unused));
        }
    }

    void at(long nanos, Runnable action) {
        events.add(new Event(nanos, order++, action));
    }

    void submit(int instance, Kind kind, long durationNanos) {
        submit(instance, kind, durationNanos, () -> {});
    }

    void submit(int instance, Kind kind, long durationNanos, Runnable atEnd) {
        queues.submit(instances.get(instance), kind, new Work(instance, durationNanos, atEnd), now);
    }

    void checkpointBegan(int instance) {
        if (gate.began(instances.get(instance).member, now)) {
            queues.reschedule(now);
        }
    }

    void checkpointEnded(int instance) {
        if (gate.ended(instances.get(instance).member, now)) {
            queues.reschedule(now);
        }
    }

    /** Until nothing is left to happen. */
    void run() {
        beginTasks();
        while (!events.isEmpty() || nextTask() != Long.MAX_VALUE) {
            Event event = events.peek();
            if (event != null && event.nanos - now <= nextTask()) {
                now = events.remove().nanos;
                event.action.run();
            } else {
                now += nextTask();
            }
            beginTasks();
        }
    }

    private long nextTask() {
        return runningTasks < threads ? queues.nanosToNext(now) : Long.MAX_VALUE;
    }

    private void beginTasks() {
        Task task;
        while (runningTasks < threads && (task = queues.poll(now)) != null) {
            begin(task);
        }
    }

    private void begin(Task task) {
        Work work = (Work) task.work;
        starts.add(new Start(task.kind, work.instance, now));
        runningTasks++;
        int ofKind = running.merge(task.kind, 1, Integer::sum);
        mostRunning.merge(task.kind, ofKind, Math::max);
        int flushes = running.getOrDefault(Kind.FLUSH, 0);
        mixedStarts += flushes > 0 && runningTasks > flushes ? 1 : 0;
        at(now + work.durationNanos, () -> end(task, work));
    }

    private void end(Task task, Work work) {
        runningTasks--;
        running.merge(task.kind, -1, Integer::sum);
        queues.ended(task, false);
        work.run();
    }

    int mostRunning(Kind kind) {
        return mostRunning.getOrDefault(kind, 0);
    }

    List<Long> starts(Kind kind) {
        return starts.stream().filter(start -> start.kind == kind).map(Start::nanos).toList();
    }
}
