package io.afterbay.cli;

/** What a worker of an experiment is to do. */
interface TrialPlan {
    /** See {@link Backend#named}. */
    String backend();

    /** Number of the round, from 1. */
    int pair();

    /** For the progress. */
    String title();
}
