package io.afterbay.workloads.clustermonitoring;

/**
 * Something happened to a task.
 *
 * @param task number within the job
 * @param eventType 0: submitted, {@link #SCHEDULE}, and on to 8, as in the trace
 * @param category scheduling class, 0 to 3
 * @param priority 0 to 11
 * @param cpu that is requested, in thousandths of the largest machine's
 * @param ram the same of memory
 * @param disk the same of disk space
 */
public record TaskEvent(
        long job,
        int task,
        int machine,
        int eventType,
        int category,
        int priority,
        int cpu,
        int ram,
        int disk) {
    /** A task was scheduled on a machine. */
    public static final int SCHEDULE = 1;
}
