package io.afterbay.cli.compare;

import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.IsolatedRuns;
import io.afterbay.cli.process.JsonHandover;
import io.afterbay.command.CommandFailure;
import io.afterbay.handover.WorkerStatus;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Runs one backend for one round of a comparison in a process of its own. */
final class RoundWorker {
    private final IsolatedRuns worker;

    RoundWorker(IsolatedRuns worker) {
        this.worker = worker;
    }

    /** What the worker found out; nothing if it was stopped. */
    Optional<Findings> run(Assignment assignment, Consumer<WorkerStatus> listener)
            throws CommandFailure, InterruptedException {
        return worker.run(Backend.named(assignment.backend()), new Round(assignment), listener);
    }

    private record Round(Assignment assignment) implements IsolatedRuns.Errand<Findings> {
        @Override
        public void prepare(Path directory) throws IOException {
            JsonHandover.in(directory).plan(assignment);
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
