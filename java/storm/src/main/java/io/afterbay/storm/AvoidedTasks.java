package io.afterbay.storm;

import io.afterbay.stragglers.TaskChooser;
import java.util.Collection;
import java.util.function.Supplier;

/**
 * The tasks that one emission goes around: a replay those that have the original. Storm calls the
 * groupings in the thread that emits, so that they find it there.
 */
final class AvoidedTasks {
    private static final int[] NONE = {};
    private static final ThreadLocal<int[]> HERE = ThreadLocal.withInitial(() -> NONE);

    private AvoidedTasks() {}

    /** Emits once, around these tasks. */
    static <R> R around(int[] tasks, Supplier<R> emission) {
        HERE.set(tasks);
        try {
            return emission.get();
        } finally {
            HERE.set(NONE);
        }
    }

    /**
     * Which of these tasks this emission goes around, or {@link TaskChooser#NO_TASK}. It is one at
     * most: a grouping has given the original to one task.
     */
    static int among(Collection<Integer> tasks) {
        for (int avoided : HERE.get()) {
            if (tasks.contains(avoided)) {
                return avoided;
            }
        }
        return TaskChooser.NO_TASK;
    }
}
