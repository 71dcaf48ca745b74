package io.afterbay.cli.engine;

import io.afterbay.command.CommandFailure;
import io.afterbay.store.StateStoreException;
import io.afterbay.workloads.run.WorkloadException;
import java.util.Locale;
import org.apache.flink.runtime.executiongraph.ErrorInfo;
import org.apache.flink.util.SerializedThrowable;

/** Turns the exception of a failed job into one line that says what happened and what to do. */
public final class Failures {
    private Failures() {}

    public static String explain(Throwable failure, String workDirectory) {
        Throwable root = root(failure);
        if (root instanceof WorkloadException || root instanceof CommandFailure) {
            return CommandFailure.reason(root);
        }
        String hint = hint(CommandFailure.reason(root), workDirectory);
        return "the job failed: "
                + root.getClass().getSimpleName()
                + ": "
                + CommandFailure.reason(root)
                + "; "
                + hint;
    }

    private static String hint(String reason, String workDirectory) {
        String lower = reason.toLowerCase(Locale.ROOT);
        if (lower.contains("no space left") || lower.contains("disk quota")) {
            return "the disk of the working directory "
                    + workDirectory
                    + " is full: make room or name another with --work-dir DIR";
        }
        if (lower.contains("checkpoint failed") || lower.contains("checkpoint tolerable failure")) {
            return "checkpoints are written to the working directory "
                    + workDirectory
                    + ": see that its disk has room, or name another with --work-dir DIR;"
                    + " --verbose shows the cause";
        }
        if (lower.contains("too many open files")) {
            return "raise the limit with: ulimit -n 65536";
        }
        return "run again with --verbose for the stack trace";
    }

    /** The cause that says most: the last one, or the first that we raised ourselves. */
    public static Throwable root(Throwable failure) {
        Throwable cause = failure;
        while (!isOurs(cause) && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    /** These say what failed, where, and what to do. */
    private static boolean isOurs(Throwable cause) {
        return cause instanceof WorkloadException
                || cause instanceof StateStoreException
                || cause instanceof CommandFailure;
    }

    /** An exception that travelled through the engine, as what it was. */
    static Throwable known(SerializedThrowable failure) {
        return failure.deserializeError(Failures.class.getClassLoader());
    }

    static Throwable known(ErrorInfo failure) {
        return failure.getException().deserializeError(Failures.class.getClassLoader());
    }
}
