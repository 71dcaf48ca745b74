package io.afterbay.cli.process;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import io.afterbay.handover.Abandonment;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The directory of one run, gone when the run is. */
public final class WorkDirectory {
    private static final String PROPERTY = "afterbay.work-directory";

    /** Loaded with this class: a build may replace the classes while a job runs. */
    private static final Remover REMOVER = new Remover();

    private static final int REMOVE_ATTEMPTS = 50;
    private static final long REMOVE_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final int KILL_SECONDS_MAX = 10;

    private WorkDirectory() {}

    public static Path create(@Nullable Path parent) throws CommandFailure {
        Path in = parent == null ? systemDefault() : parent;
        try {
            return Files.createTempDirectory(in, "afterbay-").toAbsolutePath();
        } catch (IOException e) {
            throw new CommandFailure(
                    "cannot create a working directory in %s: %s; name another with --work-dir DIR"
                            .formatted(in, CommandFailure.reason(e)),
                    e);
        }
    }

    private static Path systemDefault() {
        String fromEnvironment = System.getenv("TMPDIR");
        return fromEnvironment == null || fromEnvironment.isEmpty()
                ? Path.of(System.getProperty("java.io.tmpdir", "/tmp"))
                : Path.of(fromEnvironment);
    }

    /** The directory that the first process made, if this is the worker. */
    public static Optional<Path> ofWorker() {
        return Optional.ofNullable(System.getProperty(PROPERTY)).map(Path::of);
    }

    public static String workerFlag(Path directory) {
        return "-D" + PROPERTY + "=" + directory;
    }

    /** A worker whose first process was killed ends too, and leaves nothing behind. */
    public static void dieWithParent(Path directory) {
        Abandonment.withParent(() -> abandon(directory));
    }

    /**
     * Leaves the removal to a shell that outlives this process: the engine goes on creating files
     * until the process has ended, and a JVM takes its time to halt.
     */
    private static void abandon(Path directory) {
        try {
            Abandonment.killAndRemove(directory).waitFor(KILL_SECONDS_MAX, TimeUnit.SECONDS);
        } catch (IOException | InterruptedException e) {
            // No shell, or in a hurry: what follows does for most cases.
        }
        remove(directory);
        Runtime.getRuntime().halt(ExitCode.KILLED);
    }

    /**
     * Removes the directory, also under the hands of an engine that still writes to it. What cannot
     * be removed is not worth a failure.
     */
    public static void remove(Path directory) {
        for (int attempt = 0; attempt < REMOVE_ATTEMPTS; attempt++) {
            if (tryRemove(directory)) {
                return;
            }
            LockSupport.parkNanos(REMOVE_PAUSE_NANOS);
        }
        System.err.println("afterbay: " + directory + " could not be removed; remove it by hand");
    }

    private static boolean tryRemove(Path directory) {
        try {
            Files.walkFileTree(directory, REMOVER);
            return Files.notExists(directory);
        } catch (IOException e) {
            return Files.notExists(directory);
        }
    }

    private static final class Remover extends SimpleFileVisitor<Path> {
        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException e) {
            return FileVisitResult.CONTINUE; // gone already
        }

        @Override
        public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException e)
                throws IOException {
            Files.deleteIfExists(directory);
            return FileVisitResult.CONTINUE;
        }
    }
}
