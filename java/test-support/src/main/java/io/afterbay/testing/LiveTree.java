package io.afterbay.testing;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Files of a directory in which others are at work: some may be renamed or deleted while they are
 * listed, of which {@link Files#walk} makes an error.
 */
public final class LiveTree {
    private LiveTree() {}

    /** All regular files below it, in any order; none if it is not there. */
    public static List<Path> files(Path directory) throws IOException {
        List<Path> found = new ArrayList<>();
        Files.walkFileTree(
                directory,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                        if (attributes.isRegularFile()) {
                            found.add(file);
                        }
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFileFailed(Path file, IOException problem)
                            throws IOException {
                        return passOver(problem);
                    }

                    @Override
                    public FileVisitResult postVisitDirectory(
                            Path ended, @Nullable IOException problem) throws IOException {
                        return problem == null ? FileVisitResult.CONTINUE : passOver(problem);
                    }
                });
        return found;
    }

    private static FileVisitResult passOver(IOException problem) throws IOException {
        if (problem instanceof NoSuchFileException) {
            return FileVisitResult.CONTINUE;
        }
        throw problem;
    }
}
