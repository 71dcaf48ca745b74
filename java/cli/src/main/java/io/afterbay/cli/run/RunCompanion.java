package io.afterbay.cli.run;

import io.afterbay.cli.engine.EmbeddedEngine;
import io.afterbay.cli.engine.EngineFigures;
import io.afterbay.cli.job.Outcome;
import io.afterbay.command.CommandFailure;
import java.util.List;
import java.util.Optional;

/** What else goes on while a job runs on the embedded engine. For the thread of the run only. */
public interface RunCompanion {
    RunCompanion NONE = new RunCompanion() {};

    /** The engine starts after this. */
    default void starting(EmbeddedEngine engine) throws CommandFailure {}

    /** What to tell the user that has happened since the call before. */
    default List<String> news() {
        return List.of();
    }

    /** The progress line, if it is not the usual one. */
    default Optional<String> progress(EngineFigures figures) {
        return Optional.empty();
    }

    /** Whether the run is to end now, as a failure. */
    default boolean wantsEnd() {
        return false;
    }

    /** The job has ended, and is not yet reported. */
    default void ended(Outcome outcome) throws CommandFailure {}
}
