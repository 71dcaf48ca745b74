package io.afterbay.cli.compare;

import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.IsolatedRuns;
import io.afterbay.cli.engine.WorkerLauncher;
import io.afterbay.cli.process.JsonHandover;
import io.afterbay.command.CommandFailure;
import io.afterbay.handover.WorkerStatus;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Runs one backend for one round of a comparison in a process of its own. */
final class BackendRuns {
    private final IsolatedRuns runs;
    private final Function<Backend, WorkerLauncher> launcher;
    private final List<String> args;

    /**
     * @param args the command line of this process, which workers get too
     */
    BackendRuns(IsolatedRuns runs, Function<Backend, WorkerLauncher> launcher, List<String> args) {
        this.runs = runs;
        this.launcher = launcher;
        this.args = args;
    }

    /** What the worker found out; nothing if it was stopped. */
    Optional<Findings> run(Assignment assignment, Consumer<WorkerStatus> listener)
            throws CommandFailure, InterruptedException {
        Backend backend = Backend.named(assignment.backend());
        return runs.run(launcher.apply(backend), args, new Round(assignment), listener);
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
