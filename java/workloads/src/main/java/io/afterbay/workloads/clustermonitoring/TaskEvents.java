package io.afterbay.workloads.clustermonitoring;

import io.afterbay.workloads.run.Draws;
import java.io.Serializable;

/**
 * The stream of task events as a function of the number of the event. A job begins every {@value
 * #EVENTS_PER_JOB} events; the last {@value #ACTIVE_JOBS} are active, the newer the more so. Low
 * categories and small requests are frequent, as in the trace. Jobs that were active before the
 * first event have negative numbers, so the set of keys has its full size from the beginning.
 */
public record TaskEvents(Draws draws) implements Serializable {
    static final int ACTIVE_JOBS = 2000;
    static final int EVENTS_PER_JOB = 50;
    static final int CATEGORIES = 4;

    private static final int EVENT_TYPES = 9;
    private static final int PRIORITIES = 12;
    private static final int TASKS = 100;
    private static final int MACHINES = 12_500;
    private static final int REQUEST_MAX = 1000;

    /** Every so many events, a task is scheduled. */
    private static final int SCHEDULES_EVERY = 3;

    public static TaskEvents of(long seed) {
        return new TaskEvents(new Draws(seed));
    }

    /** The event of that number, from 0. */
    public TaskEvent event(long number) {
        return new TaskEvent(
                number / EVENTS_PER_JOB - draws.skewed(number, 0, ACTIVE_JOBS),
                draws.skewed(number, 1, TASKS),
                draws.below(number, 2, MACHINES),
                eventType(number),
                draws.skewed(number, 3, CATEGORIES),
                draws.skewed(number, 4, PRIORITIES),
                1 + draws.skewed(number, 5, REQUEST_MAX),
                1 + draws.skewed(number, 6, REQUEST_MAX),
                1 + draws.skewed(number, 7, REQUEST_MAX));
    }

    private int eventType(long number) {
        return draws.below(number, 8, SCHEDULES_EVERY) == 0
                ? TaskEvent.SCHEDULE
                : draws.below(number, 9, EVENT_TYPES);
    }
}
