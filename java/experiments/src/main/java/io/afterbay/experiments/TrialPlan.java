package io.afterbay.experiments;

import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.EngineArguments;
import io.afterbay.command.CommandFailure;
import java.util.Map;
import picocli.CommandLine;

/** What a worker of an experiment is to do. */
public interface TrialPlan {
    /** See {@link Backend#named}. */
    String backend();

    /** Number of the round, from 1. */
    int pair();

    /** Sets what this run needs of the engine and the user has not decided, in both processes. */
    default void configure(EngineArguments engine, CommandLine command) {}

    /**
     * Variables of the worker's process, beside those of this one.
     *
     * @throws CommandFailure if the system does not have what they need
     */
    default Map<String, String> environment() throws CommandFailure {
        return Map.of();
    }

    /** For the progress. */
    String title();
}
