package io.afterbay.cli.job;

import io.afterbay.command.ExitCode;
import org.jspecify.annotations.Nullable;

/**
 * How a run ended.
 *
 * @param name for the summary
 * @param exitCode of the process
 * @param problem what went wrong, for the user, or null
 */
public record Outcome(String name, int exitCode, @Nullable String problem) {

    public static Outcome finished() {
        return new Outcome("finished", ExitCode.OK, null);
    }

    public static Outcome interrupted(int exitCode) {
        return new Outcome("interrupted", exitCode, null);
    }

    public static Outcome failed(String problem) {
        return new Outcome("failed", ExitCode.FAILURE, problem);
    }

    public boolean isFinished() {
        return exitCode == ExitCode.OK;
    }
}
