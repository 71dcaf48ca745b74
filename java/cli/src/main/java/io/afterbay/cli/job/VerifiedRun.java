package io.afterbay.cli.job;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.command.CommandFailure;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A job of ours whose output can be compared with an answer that no engine has computed. */
abstract class VerifiedRun implements Job {
    private final boolean verifies;

    /** What was found wrong, empty if nothing; null before the comparison. */
    private @Nullable String found;

    VerifiedRun(boolean verifies) {
        this.verifies = verifies;
    }

    @Override
    public final boolean verifies() {
        return verifies;
    }

    /**
     * What is wrong with the output, in words; empty if nothing.
     *
     * @param output file of rows
     */
    abstract String problem(Path output) throws IOException;

    @Override
    public final void verify() throws CommandFailure {
        String file = output();
        if (!verifies || file == null) {
            return;
        }
        try {
            found = problem(Path.of(file));
        } catch (IOException e) {
            throw new CommandFailure("--verify: " + CommandFailure.reason(e), e);
        }
        if (!found.isEmpty()) {
            throw new CommandFailure("--verify: " + found);
        }
    }

    /** Null if nobody knows. */
    private @Nullable Boolean isRight() {
        return found == null ? null : found.isEmpty();
    }

    /** So far. */
    abstract long rows();

    /** Behind the number of rows. */
    final String verdict() {
        return Boolean.TRUE.equals(isRight())
                ? ", equal to the answer that was computed without the engine"
                : "";
    }

    /**
     * @param since the beginning of a row's latency, in words
     */
    final void latencyNote(SummaryText text, String since) {
        text.line("             of a row: since %s %s", since, isOpenLoop() ? "due" : "generated");
        text.closedLoopNote(isOpenLoop());
    }

    @Override
    public void figures(ObjectNode root, RunFigures run) {
        root.put("rows", rows());
        root.put("verified", isRight());
    }
}
