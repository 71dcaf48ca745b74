package io.afterbay.edge.live;

import io.afterbay.command.CommandFailure;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A program in a process of its own. One that is {@linkplain #restarted restarted} is started
 * again, with the same arguments, when somebody has killed it; of one that runs {@linkplain #once
 * once} that is a failure. What it says goes to two files. Its processes end with this one, also if
 * this one is killed: their standard input is a pipe that nobody writes to, and is at its end then.
 *
 * <p>{@link #look} is for one thread; the rest for any.
 */
final class SupervisedProgram implements AutoCloseable {
    /** Codes of programs that a signal has ended are behind it. */
    private static final int SIGNALS = 128;

    /** A machine that is busy has it; a program that needs longer hangs. */
    private static final Duration PATIENCE = Duration.ofMinutes(4);

    /** Only a disk that hangs can keep a process that is killed. */
    private static final long END_SECONDS = 30;

    private final String name;
    private final List<String> command;
    private final Path out;
    private final Path errors;
    private final boolean isRestarted;
    private final Thread hook = new Thread(this::destroy);
    private volatile Process process;
    private volatile int kills;
    private final ProcessUsage usage = new ProcessUsage();

    /**
     * Starts a program that goes on from where it was when it was killed.
     *
     * @param name for messages
     * @param directory for what it says
     */
    static SupervisedProgram restarted(String name, List<String> command, Path directory)
            throws IOException {
        return new SupervisedProgram(name, command, directory, true);
    }

    /**
     * Starts a program that nobody can start a second time: it would not know what the first one
     * has done.
     *
     * @param name for messages
     * @param directory for what it says
     */
    static SupervisedProgram once(String name, List<String> command, Path directory)
            throws IOException {
        return new SupervisedProgram(name, command, directory, false);
    }

    private SupervisedProgram(
            String name, List<String> command, Path directory, boolean isRestarted)
            throws IOException {
        this.name = name;
        this.command = command;
        this.isRestarted = isRestarted;
        this.out = directory.resolve(name + ".out");
        this.errors = directory.resolve(name + ".err");
        this.process = start();
        Runtime.getRuntime().addShutdownHook(hook);
    }

    private Process start() throws IOException {
        return new ProcessBuilder(command)
                .redirectOutput(out.toFile())
                .redirectError(Redirect.appendTo(errors.toFile()))
                .start();
    }

    /**
     * Whether it has done its work; starts it again if it was killed and is to be restarted.
     *
     * @throws CommandFailure with its own words, if it has ended otherwise; or that it was killed
     */
    boolean look() throws CommandFailure, IOException {
        usage.look(process);
        if (process.isAlive()) {
            return false;
        }
        int code = process.exitValue();
        if (code > SIGNALS && isRestarted) {
            usage.ended();
            kills++;
            process = start();
            return false;
        }
        if (code != 0) {
            throw failure(code);
        }
        return true;
    }

    private CommandFailure failure(int code) throws IOException {
        return new CommandFailure("%s: %s".formatted(name, lastWords(code)));
    }

    private String lastWords(int code) throws IOException {
        if (code > SIGNALS) {
            return "was killed by signal " + (code - SIGNALS);
        }
        String said = Files.exists(errors) ? Files.readString(errors).strip() : "";
        return said.isEmpty()
                ? "ended with code %d and said nothing".formatted(code)
                : said.substring(said.lastIndexOf('\n') + 1);
    }

    /** The line that it says first, when it has; it must not have ended before. */
    String firstLine() throws CommandFailure, IOException, InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (System.nanoTime() < deadline) {
            String line = lineSoFar();
            if (line != null) {
                return line;
            }
            if (!process.isAlive()) {
                throw failure(process.exitValue());
            }
            TimeUnit.MILLISECONDS.sleep(10);
        }
        throw new CommandFailure(
                "%s: has not started within %d s".formatted(name, PATIENCE.toSeconds()));
    }

    /** The line that the process that was started last has said last; empty if it has said none. */
    String lastLine() throws IOException {
        String said = Files.readString(out).strip();
        return said.substring(said.lastIndexOf('\n') + 1);
    }

    /** The line that the process that was started last has said first; null if it has said none. */
    @Nullable String lineSoFar() throws IOException {
        String said = Files.readString(out);
        int end = said.indexOf('\n');
        return end < 0 ? null : said.substring(0, end);
    }

    /** Ends it as kill -9 does; {@link #look} finds that out. */
    void kill() {
        process.destroyForcibly();
    }

    /** How often it was killed, by whomever, and started again. */
    int kills() {
        return kills;
    }

    ProcessUsage usage() {
        return usage;
    }

    /** Asks it to end, and waits until it has done what is under way. */
    void stop() throws CommandFailure, IOException, InterruptedException {
        usage.look(process);
        process.destroy();
        if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
            throw new CommandFailure(
                    "%s: has not ended within %d s".formatted(name, PATIENCE.toSeconds()));
        }
        int code = process.exitValue();
        if (code != 0) {
            throw failure(code);
        }
    }

    private void destroy() {
        @Nullable Process last = process;
        if (last != null) {
            last.destroyForcibly();
        }
    }

    /** Ends it as kill -9 does. It is gone on return, and writes no file that is removed next. */
    @Override
    public void close() {
        destroy();
        process.onExit().completeOnTimeout(process, END_SECONDS, TimeUnit.SECONDS).join();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // It is running.
        }
    }
}
