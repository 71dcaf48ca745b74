package io.afterbay.cli.replay;

import io.afterbay.cli.process.JsonHandover;
import io.afterbay.command.CommandFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** What is noted of a replay: files in its directory, each written as a whole. Thread safe. */
final class NotedFiles {
    private final Path directory;

    /** Looks at something there. */
    interface Reading<T> {
        T read() throws IOException, CommandFailure;
    }

    NotedFiles(Path directory) {
        this.directory = directory;
    }

    Path path(String file) {
        return directory.resolve(file);
    }

    boolean has(String file) {
        return Files.exists(path(file));
    }

    /**
     * @throws CommandFailure that names the file if it cannot be read
     */
    <T> T read(String file, Reading<T> reading) throws CommandFailure {
        try {
            return reading.read();
        } catch (IOException e) {
            throw failure(file, e);
        }
    }

    /** What is in a file of JSON, if it is there. */
    <T> Optional<T> find(String file, Class<T> type) throws CommandFailure {
        return has(file)
                ? Optional.of(read(file, () -> JsonHandover.read(path(file), type)))
                : Optional.empty();
    }

    void write(String file, Object content) throws CommandFailure {
        try {
            JsonHandover.write(path(file), content);
        } catch (IOException e) {
            throw failure(file, e);
        }
    }

    /** Does nothing if it is not there. */
    void delete(String file) throws CommandFailure {
        try {
            Files.deleteIfExists(path(file));
        } catch (IOException e) {
            throw failure(file, e);
        }
    }

    CommandFailure failure(String file, IOException cause) {
        return new CommandFailure(path(file) + ": " + CommandFailure.reason(cause), cause);
    }
}
