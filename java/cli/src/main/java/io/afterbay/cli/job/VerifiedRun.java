package io.afterbay.cli.job;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.command.CommandFailure;
import java.io.IOException;
import java.nio.file.Path;

/** A job of ours whose output can be compared with an answer that no engine has computed. */
abstract class VerifiedRun implements Job {
    private final boolean verifies;
    private boolean isCompared;
    private boolean isEqual;

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
            String problem = problem(Path.of(file));
            isCompared = true;
            isEqual = problem.isEmpty();
            if (!isEqual) {
                throw new CommandFailure("--verify: " + problem);
            }
        } catch (IOException e) {
            throw new CommandFailure("--verify: " + CommandFailure.reason(e), e);
        }
    }

    /** So far. */
    abstract long rows();

    /** Behind the number of rows. */
    final String verdict() {
        return isEqual ? ", equal to the answer that was computed without the engine" : "";
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
        if (isCompared) {
            root.put("verified", isEqual);
        } else {
            root.putNull("verified");
        }
    }
}
