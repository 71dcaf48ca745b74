package io.afterbay.experiments;

import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.EngineOptions;

/** Of a run whose worker has no Flink in it: what is measured is in processes of its own. */
public interface PlanWithoutEngine extends TrialPlan {
    /** Of no meaning. */
    @Override
    default String backend() {
        return Backend.AFTERBAY.name();
    }

    @Override
    default EngineOptions engine(EngineOptions given) {
        return given.withParallelism(1);
    }
}
