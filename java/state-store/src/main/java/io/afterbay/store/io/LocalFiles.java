package io.afterbay.store.io;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The few file operations that the store needs. Thread safe. */
public interface LocalFiles {
    /** The machine's own file system. */
    static LocalFiles system() {
        return SystemLocalFiles.INSTANCE;
    }

    void createDirectories(Path directory) throws IOException;

    /** Creates a file that must not exist yet, for writing and reading. */
    LocalFile create(Path path) throws IOException;

    /** Opens a file that exists, for reading. */
    LocalFile open(Path path) throws IOException;

    /**
     * Gives a file a second name, which must not exist yet, on the same file system. It stays until
     * both are deleted.
     */
    void link(Path existing, Path link) throws IOException;

    /** Deletes a file; one that does not exist is no error. */
    void delete(Path path) throws IOException;

    /** Deletes a directory that is empty; one that does not exist is no error. */
    void deleteDirectory(Path directory) throws IOException;

    List<Path> list(Path directory) throws IOException;
}
