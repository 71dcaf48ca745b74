package io.afterbay.spark;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;

/** Files of a directory in which others are at work: some may go away while they are listed. */
final class LiveTree {
    private LiveTree() {}

    /** All below it, in any order; none if it is not there. */
    static List<Path> files(Path directory) throws IOException {
        List<Path> found = new ArrayList<>();
        Files.walkFileTree(
                directory,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                        found.add(file);
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFileFailed(Path file, IOException problem)
                            throws IOException {
                        if (problem instanceof NoSuchFileException) {
                            return FileVisitResult.CONTINUE;
                        }
                        throw problem;
                    }
                });
        return found;
    }
}
