package io.afterbay.cli.job;

import io.afterbay.cli.engine.Failures;
import io.afterbay.cli.engine.Submissions.Submitted;
import io.afterbay.command.CommandFailure;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.client.program.ProgramInvocationException;
import org.apache.flink.util.SerializedThrowable;
import org.jspecify.annotations.Nullable;

/** What went wrong in somebody else's code, with the place in that code. */
final class ProgramFailure {
    private static final List<String> OTHERS =
            List.of(
                    "java.",
                    "javax.",
                    "jdk.",
                    "sun.",
                    "com.sun.",
                    "org.apache.",
                    "io.afterbay.cli.");

    private ProgramFailure() {}

    /**
     * @param code what was running, for example "main of com.acme.Job"
     */
    static CommandFailure of(Throwable failure, String code) {
        Throwable root = Failures.root(failure);
        if (root instanceof CommandFailure known) {
            return known;
        }
        if (root instanceof ProgramInvocationException) {
            return new CommandFailure(CommandFailure.reason(root), failure);
        }
        return new CommandFailure(
                code + " failed: " + describe(root) + place(failure) + hint(root), failure);
    }

    /** The failure of a job, whose exceptions come from the tasks. */
    static CommandFailure of(Submitted job, SerializedThrowable failure, ClassLoader classes) {
        Throwable known = failure.deserializeError(classes);
        return of(known, "job '" + job.name() + "'");
    }

    private static String describe(Throwable root) {
        return root instanceof SerializedThrowable
                ? CommandFailure.reason(root)
                : root.getClass().getSimpleName() + ": " + CommandFailure.reason(root);
    }

    /** The innermost line of the user's own code. */
    private static String place(Throwable failure) {
        StackTraceElement own = null;
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            StackTraceElement found = firstOwn(cause);
            own = found == null ? own : found;
        }
        return own == null ? "" : " (at " + own + ")";
    }

    private static @Nullable StackTraceElement firstOwn(Throwable failure) {
        return Stream.of(failure.getStackTrace())
                .filter(frame -> OTHERS.stream().noneMatch(frame.getClassName()::startsWith))
                .findFirst()
                .orElse(null);
    }

    private static String hint(Throwable root) {
        if (root instanceof ClassNotFoundException || root instanceof NoClassDefFoundError) {
            return "; neither the jar nor Flink has this class: build the jar with the libraries"
                    + " that it uses (shaded), Flink's own left out";
        }
        return "; run again with --verbose for the stack trace";
    }
}
