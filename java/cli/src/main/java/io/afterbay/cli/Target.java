package io.afterbay.cli;

/** What is compared: a job that can run for as many events, and as fast, as a phase needs. */
interface Target {
    /** Short, for a file name. */
    String name();

    /** Counted events of a closed loop. */
    long events();

    /** Events after which the state has its full size, give or take. */
    long rampUpEvents();

    /** The same target with a shorter closed loop, if it has more events than that. */
    Target limitedTo(long events);

    /** A job with statistics of its own. */
    Job job(Phase phase);
}
