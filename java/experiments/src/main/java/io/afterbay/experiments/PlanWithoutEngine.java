package io.afterbay.experiments;

import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.EngineArguments;
import picocli.CommandLine;

/** Of a run whose worker has no Flink in it: what is measured is in processes of its own. */
public interface PlanWithoutEngine extends TrialPlan {
    /** Of no meaning. */
    @Override
    default String backend() {
        return Backend.AFTERBAY.name();
    }

    @Override
    default void configure(EngineArguments engine, CommandLine command) {
        engine.parallelism = 1;
    }
}
