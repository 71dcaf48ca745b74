package io.afterbay.experiments;

import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.EngineOptions;
import io.afterbay.command.CommandFailure;
import java.util.Map;

/** What a worker of an experiment is to do. */
public interface TrialPlan {
    /** See {@link Backend#named}. */
    String backend();

    /** Number of the round, from 1. */
    int pair();

    /**
     * The engine that this run needs.
     *
     * @param given what the user has asked for
     */
    default EngineOptions engine(EngineOptions given) {
        return given;
    }

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
