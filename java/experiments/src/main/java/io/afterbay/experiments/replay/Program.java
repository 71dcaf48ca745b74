package io.afterbay.experiments.replay;

import io.afterbay.cli.process.WorkerLog;
import io.afterbay.command.CommandFailure;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A process that is told something by lines, and answers by such. One thread. */
final class Program implements AutoCloseable {
    private static final String DONE = "done";
    private static final long END_S_MAX = 120;

    private final String name;
    private final Process process;
    private final Path log;
    private final BufferedWriter in;
    private final BufferedReader out;

    private Program(String name, Process process, Path log) {
        this.name = name;
        this.process = process;
        this.log = log;
        this.in = process.outputWriter(StandardCharsets.UTF_8);
        this.out = process.inputReader(StandardCharsets.UTF_8);
    }

    /**
     * @param name for messages
     * @param log for what it writes to standard error
     */
    static Program start(String name, List<String> command, Path log) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putIfAbsent("MALLOC_ARENA_MAX", "2");
        return new Program(name, builder.redirectError(log.toFile()).start(), log);
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** The next line that it says. */
    String line() throws IOException, CommandFailure {
        String line = out.readLine();
        if (line == null) {
            throw hasEnded();
        }
        return line;
    }

    /** Tells it something, and waits until it is done; returns what it says about it. */
    String tell(String what) throws IOException, CommandFailure {
        in.write(what + "\n");
        in.flush();
        String answer = line();
        if (!answer.startsWith(DONE)) {
            throw new CommandFailure("%s says '%s' to '%s'".formatted(name, answer, what));
        }
        return answer.substring(DONE.length()).strip();
    }

    /** What is wrong if it is no longer there. */
    CommandFailure hasEnded() {
        return new CommandFailure(
                "the process '%s' has ended%s".formatted(name, WorkerLog.lastWords(log)));
    }

    /** Waits for its end, which has to be a good one. */
    void end() throws CommandFailure, IOException, InterruptedException {
        // Else it waits for somebody who reads what it says.
        out.transferTo(java.io.Writer.nullWriter());
        if (process.waitFor() != 0) {
            throw hasEnded();
        }
    }

    /** Asks it to end, and waits for that. */
    void stop() throws InterruptedException {
        process.destroy();
        if (!process.waitFor(END_S_MAX, TimeUnit.SECONDS)) {
            close();
        }
    }

    @Override
    public void close() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }
}
