package io.afterbay.cli;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The directory of one run, gone when the run is. */
final class WorkDirectory {
    private static final String PROPERTY = "afterbay.work-directory";

    private WorkDirectory() {}

    static Path create(@Nullable Path parent) throws CommandFailure {
        Path in = parent == null ? systemDefault() : parent;
        try {
            return Files.createTempDirectory(in, "afterbay-").toAbsolutePath();
        } catch (IOException e) {
            throw new CommandFailure(
                    "cannot create a working directory in %s: %s; name another with --work-dir DIR"
                            .formatted(in, Failures.reason(e)),
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
    static Optional<Path> ofWorker() {
        return Optional.ofNullable(System.getProperty(PROPERTY)).map(Path::of);
    }

    static String workerFlag(Path directory) {
        return "-D" + PROPERTY + "=" + directory;
    }

    /** Removes the directory as far as possible; what is left is not worth a failure. */
    static void remove(Path directory) {
        try {
            Files.walkFileTree(directory, new Remover());
        } catch (IOException e) {
            System.err.println("afterbay: could not remove " + directory + ": " + e.getMessage());
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
