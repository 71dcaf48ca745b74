package io.afterbay.workloads.run;

import java.util.function.Supplier;

/**
 * Sees what happens in a run, within the same process. Calls come from the threads of the source
 * and of the last operator, one of each, and must be quick.
 */
public interface RunObserver {
    /** Sees nothing. */
    RunObserver NONE = new RunObserver() {};

    /** So many events have entered the job by now; not called for each of them. */
    default void accepted(long events) {}

    /** A result came out so long after the event that let it be computed was due. */
    default void result(long latencyMicros) {}

    /**
     * An event has reached the last state that is its own, so long after it was due. Comes from
     * many threads at once, and from jobs of ours that say so only.
     */
    default void arrived(long latencyMicros) {}

    /** A row of the result came out; as CSV it does not depend on when. */
    default void row(Supplier<String> csv) {}

    /**
     * No more results are expected. Comes from a thread of the job while the others are still there
     * if the job is one of ours, and else afterwards.
     */
    default void ended() {}
}
