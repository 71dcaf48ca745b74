package io.afterbay.bench;

import org.jspecify.annotations.Nullable;

/** One run of an experiment that has figures of its own; the process did nothing else. */
public interface Trial {
    /** Label of the state backend. */
    String backend();

    /** Number of the round within its call, from 1; see {@link RecordedTrial#round}. */
    int pair();

    /** Why it failed, in one line, or null. */
    @Nullable String failure();

    /** Whether it did all its work. */
    default boolean finished() {
        return failure() == null;
    }

    /** Whether its figures count: it did all its work, and what came out is not known as wrong. */
    default boolean counts() {
        return finished();
    }
}
