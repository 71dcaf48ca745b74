package io.afterbay.cli.compare;

import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.engine.IsolatedRuns;
import io.afterbay.cli.engine.WorkerLauncher;
import io.afterbay.cli.measure.Target;
import io.afterbay.cli.process.JsonHandover;
import io.afterbay.command.CommandFailure;
import io.afterbay.handover.Handover;
import io.afterbay.handover.WorkerStatus;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Runs one backend for one round of a comparison in a process of its own. */
final class BackendRuns {
    private final IsolatedRuns runs;
    private final Function<Backend, EngineSettings> engine;
    private final Target target;

    /**
     * @param engine with each backend
     */
    BackendRuns(IsolatedRuns runs, Function<Backend, EngineSettings> engine, Target target) {
        this.runs = runs;
        this.engine = engine;
        this.target = target;
    }

    /** What the worker found out; nothing if it was stopped. */
    Optional<Findings> run(Assignment assignment, Consumer<WorkerStatus> listener)
            throws CommandFailure, InterruptedException {
        EngineSettings settings =
                engine.apply(Backend.named(assignment.backend())).withoutRestarts();
        return runs.run(
                new WorkerLauncher(CompareWorker.class, settings),
                new Round(settings, assignment, target),
                listener);
    }

    private record Round(EngineSettings settings, Assignment assignment, Target target)
            implements IsolatedRuns.Errand<Findings> {
        @Override
        public void prepare(Path directory) throws IOException {
            Handover handover = JsonHandover.in(directory);
            handover.plan(new ComparedRun(assignment, target));
            handover.settings(settings);
        }

        @Override
        public Findings collect(Path directory, @Nullable String problem) {
            Findings found =
                    JsonHandover.in(directory)
                            .trial(Findings.class)
                            .orElseGet(
                                    () ->
                                            Findings.none(
                                                    Backend.named(assignment.backend()),
                                                    assignment.pair()));
            return problem == null ? found : found.failed(problem);
        }
    }
}
