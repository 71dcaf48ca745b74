package io.afterbay.experiments;

import io.afterbay.bench.Cell;
import io.afterbay.cli.engine.EngineOptions;
import io.afterbay.cli.measure.Target;
import io.afterbay.command.ByteSize;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One comparison of an experiment.
 *
 * @param query what runs, as it is called in the results
 * @param events in one closed loop
 * @param title as a user would type the job
 * @param limit of the memory cgroup of each worker, or null
 * @param arguments what to type behind {@code ./afterbay}, where this process was started, for the
 *     same comparison
 */
public record ExperimentCell(
        Cell cell,
        String query,
        long events,
        Target target,
        String title,
        EngineOptions engine,
        @Nullable ByteSize limit,
        List<String> arguments) {}
