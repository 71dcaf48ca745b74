package io.afterbay.cli.run;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.cli.engine.Engine;
import io.afterbay.cli.engine.EngineFigures;
import io.afterbay.cli.job.Outcome;
import io.afterbay.command.CommandFailure;
import java.util.List;
import java.util.Optional;

/** What else goes on while a job runs. For the thread of the run only. */
public interface RunCompanion {
    RunCompanion NONE = new RunCompanion() {};

    /** The engine starts after this, or the first job if it runs already. */
    default void starting(Engine engine) throws CommandFailure, InterruptedException {}

    /** A class of each library that jobs need on a cluster beside their own. */
    default List<Class<?>> libraries() {
        return List.of();
    }

    /** Whether a cluster must have room for the job before it is started. */
    default boolean needsFreeSlots() {
        return true;
    }

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

    /** What the report in JSON has beside that of every run. */
    default void report(ObjectNode root) throws CommandFailure {}
}
