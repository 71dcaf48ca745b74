package io.afterbay.edge.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A directory for files that nobody needs afterwards. */
public final class WorkFiles implements AutoCloseable {
    private final Path directory;

    public WorkFiles() throws IOException {
        directory = Files.createTempDirectory("afterbay-edge-");
    }

    public Path directory() {
        return directory;
    }

    @Override
    public void close() throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(directory)) {
            files = all.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path file : files) {
            Files.deleteIfExists(file);
        }
    }
}
