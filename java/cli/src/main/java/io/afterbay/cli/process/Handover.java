package io.afterbay.cli.process;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Optional;

/**
 * Files in the working directory of a worker by which it learns what to do and tells what it found
 * out.
 */
public record Handover(Path directory) {
    private static final String PLAN = "plan.json";
    private static final String CPU = "cpu.json";
    private static final String TRIAL = "trial.json";
    private static final ObjectMapper MAPPER = new ObjectMapper();

    public void plan(Object plan) throws IOException {
        write(PLAN, plan);
    }

    public <P> P plan(Class<P> type) throws IOException {
        return MAPPER.readValue(directory.resolve(PLAN).toFile(), type);
    }

    /** What the worker found out; replaces what it knew before. */
    public void trial(Object trial) throws IOException {
        write(TRIAL, trial);
    }

    /** Nothing if the worker ended before it knew anything. */
    public <R> Optional<R> trial(Class<R> type) {
        try {
            return Optional.of(MAPPER.readValue(directory.resolve(TRIAL).toFile(), type));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** The processor time of the processes that the worker has started, all together. */
    public void cpuOfChildren(Duration cpu) throws IOException {
        write(CPU, cpu.toMillis());
    }

    /** Zero if the worker has not started any. */
    public Duration cpuOfChildren() {
        try {
            return Duration.ofMillis(MAPPER.readValue(directory.resolve(CPU).toFile(), Long.class));
        } catch (IOException e) {
            return Duration.ZERO;
        }
    }

    /** As a whole, since the worker may be killed at any time. */
    private void write(String name, Object content) throws IOException {
        Path next = directory.resolve(name + ".next");
        MAPPER.writeValue(next.toFile(), content);
        Files.move(next, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    }
}
