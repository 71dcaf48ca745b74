package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.testing.OwnJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The command line in a process of its own, as users run it. */
public final class Command {
    private static final long TIMEOUT_SECONDS = 600;

    private final Path directory;

    /**
     * @param directory for its output
     */
    public Command(Path directory) {
        this.directory = directory;
    }

    /** Starts {@code afterbay ARGS}; the summary goes to {@link #summary}. */
    Process start(String... args) throws IOException {
        return start(Map.of(), args);
    }

    private Process start(Map<String, String> environment, String... args) throws IOException {
        return start(Afterbay.class, environment, args);
    }

    private Process start(Class<?> main, Map<String, String> environment, String... args)
            throws IOException {
        List<String> command = OwnJvm.command(main.getName());
        command.addAll(List.of(args));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(environment);
        return builder.redirectOutput(directory.resolve("out").toFile())
                .redirectError(directory.resolve("err").toFile())
                .start();
    }

    /** Runs to the end; returns the exit code. */
    int run(String... args) throws Exception {
        return run(Map.of(), args);
    }

    /** The same with more variables of the environment. */
    int run(Map<String, String> environment, String... args) throws Exception {
        return toEnd(start(environment, args));
    }

    /** The same with another program of ours. */
    public int runMain(Class<?> main, String... args) throws Exception {
        return runMain(main, Map.of(), args);
    }

    /** The same with more variables of the environment. */
    public int runMain(Class<?> main, Map<String, String> environment, String... args)
            throws Exception {
        return toEnd(start(main, environment, args));
    }

    private int toEnd(Process process) throws Exception {
        try {
            assertThat(process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)).as(err()).isTrue();
            return process.exitValue();
        } finally {
            process.destroyForcibly();
        }
    }

    public String json() {
        return directory.resolve("summary.json").toString();
    }

    public JsonNode summary() throws IOException {
        return new ObjectMapper().readTree(Path.of(json()).toFile());
    }

    public String out() throws IOException {
        return Files.readString(directory.resolve("out"));
    }

    public String err() throws IOException {
        return Files.readString(directory.resolve("err"));
    }
}
