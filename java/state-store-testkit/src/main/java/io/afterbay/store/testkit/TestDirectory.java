package io.afterbay.store.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The directory of one try, gone after it whatever the try came to. */
record TestDirectory(Path path) implements AutoCloseable {
    static TestDirectory create(String prefix) throws IOException {
        return new TestDirectory(Files.createTempDirectory(prefix));
    }

    /** Fails if the store has left a file. */
    void deleteEmpty() throws IOException {
        Files.delete(path);
    }

    /** Deletes what a try that failed has left. */
    @Override
    public void close() throws IOException {
        if (Files.exists(path)) {
            try (Stream<Path> walk = Files.walk(path)) {
                List<Path> leavesFirst = walk.sorted(Comparator.reverseOrder()).toList();
                for (Path left : leavesFirst) {
                    Files.deleteIfExists(left);
                }
            }
        }
    }
}
