package io.afterbay.handover;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Optional;

/**
 * Files in a directory by which a process learns what to do and tells what it found out. What is in
 * them is up to a library of both processes, which may be two versions of one: they have JSON.
 */
public final class Handover {
    private static final String PLAN = "plan.json";
    private static final String SETTINGS = "settings.json";
    private static final String CPU = "cpu.json";
    private static final String TRIAL = "trial.json";

    private final Path directory;
    private final Writer writer;
    private final Reader reader;

    /** Makes a value a file, as {@code ObjectMapper::writeValue} does. */
    @FunctionalInterface
    public interface Writer {
        void write(File file, Object value) throws IOException;
    }

    /** Reads it again, as {@code ObjectMapper::readValue} does. */
    @FunctionalInterface
    public interface Reader {
        <T> T read(File file, Class<T> type) throws IOException;
    }

    public Handover(Path directory, Writer writer, Reader reader) {
        this.directory = directory;
        this.writer = writer;
        this.reader = reader;
    }

    public Path directory() {
        return directory;
    }

    /** What the process is to do. */
    public void plan(Object plan) throws IOException {
        write(PLAN, plan);
    }

    public <P> P plan(Class<P> type) throws IOException {
        return reader.read(file(PLAN), type);
    }

    /** How the process is to be, whatever it does. */
    public void settings(Object settings) throws IOException {
        write(SETTINGS, settings);
    }

    public <S> S settings(Class<S> type) throws IOException {
        return reader.read(file(SETTINGS), type);
    }

    /** What the process found out; replaces what it knew before. */
    public void trial(Object trial) throws IOException {
        write(TRIAL, trial);
    }

    /** Nothing if the process ended before it knew anything. */
    public <R> Optional<R> trial(Class<R> type) {
        try {
            return Optional.of(reader.read(file(TRIAL), type));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** The processor time of the processes that the process has started, all together. */
    public void cpuOfChildren(Duration cpu) throws IOException {
        write(CPU, cpu.toMillis());
    }

    /** Zero if it has not started any. */
    public Duration cpuOfChildren() {
        try {
            return Duration.ofMillis(reader.read(file(CPU), Long.class));
        } catch (IOException e) {
            return Duration.ZERO;
        }
    }

    private File file(String name) {
        return directory.resolve(name).toFile();
    }

    /** As a whole, since the process may be killed at any time. */
    private void write(String name, Object content) throws IOException {
        Path next = directory.resolve(name + ".next");
        writer.write(next.toFile(), content);
        Files.move(next, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    }
}
