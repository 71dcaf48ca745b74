package io.afterbay.storm;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** For how long the bolts' tasks of one worker have been at work. Safe for use by any thread. */
final class BusyTimes {
    private final Map<String, Map<Integer, Task>> bolts = new ConcurrentHashMap<>();

    /**
     * A new task.
     *
     * @param id of the task
     */
    Task join(String bolt, int id) {
        Task task = new Task();
        bolts.computeIfAbsent(bolt, any -> new ConcurrentHashMap<>()).put(id, task);
        return task;
    }

    void leave(String bolt, int id, Task task) {
        bolts.getOrDefault(bolt, Map.of()).remove(id, task);
    }

    /** Those that have joined. */
    Collection<Task> of(String bolt) {
        return List.copyOf(bolts.getOrDefault(bolt, Map.of()).values());
    }

    /** The time of one task, in nanoseconds of {@link System#nanoTime}. */
    static final class Task {
        private long sum;
        private long begun;
        private boolean isAtWork;

        synchronized void begin(long now) {
            begun = now;
            isAtWork = true;
        }

        synchronized void end(long now) {
            sum += now - begun;
            isAtWork = false;
        }

        /** So far; what it is at now counts. */
        synchronized long nanos(long now) {
            return sum + (isAtWork ? Math.max(0, now - begun) : 0);
        }
    }
}
