package io.afterbay.stragglers;

import java.util.Arrays;

/** Ids of tasks in ascending order. */
final class TaskIds {
    private TaskIds() {}

    /** A sorted copy, which {@link Arrays#binarySearch} takes. */
    static int[] checked(int[] tasks) {
        int[] sorted = tasks.clone();
        Arrays.sort(sorted);
        for (int i = 0; i < sorted.length; i++) {
            if (sorted[i] < 0 || (i > 0 && sorted[i] == sorted[i - 1])) {
                throw new IllegalArgumentException(
                        "ids of tasks must be 0 or more, and differ; not "
                                + Arrays.toString(tasks));
            }
        }
        return sorted;
    }
}
