package io.afterbay.experiments.blob;

import io.afterbay.cli.process.WorkerLog;
import io.afterbay.command.CommandFailure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a server says, in files: nobody has to read them while it runs. */
public record ServerOutput(Path out, Path log) {
    static final int START_SECONDS_MAX = 60;
    private static final long PAUSE_MILLIS = 20;

    /**
     * @param name of the files, without what follows the dot
     */
    public static ServerOutput in(Path directory, String name) {
        return new ServerOutput(directory.resolve(name + ".out"), directory.resolve(name + ".log"));
    }

    /** Starts a server; what is in the files is replaced. */
    public Process start(List<String> command, Map<String, String> environment) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(environment);
        return builder.redirectOutput(out.toFile()).redirectError(log.toFile()).start();
    }

    /**
     * Returns when the server has said it.
     *
     * @throws CommandFailure if it ends, or does not say so for long; it is killed then
     */
    public void await(Process process, Pattern sign)
            throws CommandFailure, IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS_MAX);
        while (find(sign).isEmpty()) {
            if (!process.isAlive() || System.nanoTime() > end) {
                process.destroyForcibly();
                throw new CommandFailure("the server did not start" + WorkerLog.lastWords(log));
            }
            Thread.sleep(PAUSE_MILLIS);
        }
    }

    /** The first group of the first place, or all of it without a group. */
    public Optional<String> find(Pattern pattern) throws IOException {
        return first(pattern, Files.readString(out, StandardCharsets.UTF_8));
    }

    static Optional<String> first(Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        return matcher.find()
                ? Optional.of(matcher.groupCount() == 0 ? matcher.group() : matcher.group(1))
                : Optional.empty();
    }
}
