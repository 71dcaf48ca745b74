package io.afterbay.experiments.blobcluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.cli.process.WorkerLog;
import io.afterbay.command.CommandFailure;
import io.afterbay.experiments.JsonProgram;
import io.afterbay.experiments.blob.BlobProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;

/**
 * The load by a schedule: the command {@code open-loop} of the module {@code blob-bench}, which is
 * told here when another phase begins, and says ten times in a second how far it is. Not for
 * several threads.
 */
final class OpenLoad implements AutoCloseable {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final Duration PHASE_MAX = Duration.ofMinutes(2);

    private final Process process;
    private final Writer input;
    private final BufferedReader output;
    private final Path log;
    private int named;

    private OpenLoad(Process process, Path log) {
        this.process = process;
        this.log = log;
        this.input = process.outputWriter(StandardCharsets.UTF_8);
        this.output = process.inputReader(StandardCharsets.UTF_8);
    }

    static OpenLoad start(BlobProcess programs, BlobProcess.Key key, List<String> arguments)
            throws IOException {
        Path log = programs.directory().resolve("open-loop.log");
        return new OpenLoad(programs.start(key, arguments, log), log);
    }

    /** What is under way from now on counts in another phase, too. */
    void phase(String name) throws IOException {
        input.write(name + "\n");
        input.flush();
        named++;
    }

    /**
     * Returns when the phase is so old, and so many requests were answered in it.
     *
     * @throws CommandFailure if they are not within two minutes more, or the load has ended
     */
    void await(Duration atLeast, long requests) throws CommandFailure, IOException {
        await(atLeast, "requests", requests);
    }

    /** The same when one more request has failed. */
    void awaitErrors() throws CommandFailure, IOException {
        await(Duration.ZERO, "errors", 1);
    }

    private void await(Duration atLeast, String what, long more)
            throws CommandFailure, IOException {
        long begin = System.nanoTime();
        OptionalLong first = OptionalLong.empty();
        while (true) {
            JsonNode told = line();
            Duration passed = Duration.ofNanos(System.nanoTime() - begin);
            long count = told.path(what).asLong();
            JsonProgram.say("phase " + named, count);
            // What was said before the phase was named is of the one before.
            if (told.path("named").asInt() == named) {
                first = first.isPresent() ? first : OptionalLong.of(count);
                if (passed.compareTo(atLeast) >= 0 && count - first.getAsLong() >= more) {
                    return;
                }
            }
            if (passed.compareTo(atLeast.plus(PHASE_MAX)) > 0) {
                throw new CommandFailure(
                        "the load has not come to %d more %s in %d s: %s"
                                .formatted(more, what, passed.toSeconds(), told));
            }
        }
    }

    private JsonNode line() throws CommandFailure, IOException {
        String line = output.readLine();
        if (line == null) {
            throw new CommandFailure("the load has ended by itself" + WorkerLog.lastWords(log));
        }
        return MAPPER.readTree(line);
    }

    /** Ends it; what it found. */
    JsonNode end() throws CommandFailure, IOException {
        input.close();
        JsonNode line = line();
        while (!line.has("phases")) {
            JsonProgram.say("the load ends", line.path("requests").asLong());
            line = line();
        }
        return line;
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
