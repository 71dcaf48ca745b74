package io.afterbay.storm.workloads;

import io.afterbay.handover.stragglers.StragglerTopology;
import java.util.Arrays;

/**
 * The machine of a worker, as a model: the worker's tasks take turns on its processors, in the
 * order in which they ask, and so do programs beside, which never have enough. It says when a task
 * will be done, and keeps nobody waiting itself, so that what a thread sleeps too long is no work.
 *
 * <pre>
 *   processor 1   task 4 ======  program ======  task 9 ===
 *   processor 2   task 7 ==========  task 2 =====
 *                 --------------------------------------------&gt; time
 * </pre>
 *
 * <p>Safe for use by any thread.
 */
final class SharedMachine {
    /** How long a program beside keeps a processor, before others have their turn. */
    static final long SLICE_NANOS = 4_000_000;

    /** When each processor is free. */
    private final long[] freeNanos;

    /** When each program beside asks for a processor again. */
    private final long[] askingNanos;

    SharedMachine(StragglerTopology.Machine machine, long nowNanos) {
        freeNanos = new long[machine.processors()];
        askingNanos = new long[machine.competitors()];
        Arrays.fill(freeNanos, nowNanos);
        Arrays.fill(askingNanos, nowNanos);
    }

    /** When work that a task asks for now is done. */
    synchronized long doneNanos(long nowNanos, long workNanos) {
        for (int program = first(askingNanos);
                askingNanos.length > 0 && askingNanos[program] - nowNanos <= 0;
                program = first(askingNanos)) {
            askingNanos[program] = take(askingNanos[program], SLICE_NANOS);
        }
        return take(nowNanos, workNanos);
    }

    private long take(long fromNanos, long workNanos) {
        int processor = first(freeNanos);
        long begun = freeNanos[processor] - fromNanos > 0 ? freeNanos[processor] : fromNanos;
        freeNanos[processor] = begun + workNanos;
        return freeNanos[processor];
    }

    /** The place of the earliest; 0 if there is none. */
    private static int first(long[] times) {
        int first = 0;
        for (int i = 1; i < times.length; i++) {
            first = times[i] - times[first] < 0 ? i : first;
        }
        return first;
    }
}
