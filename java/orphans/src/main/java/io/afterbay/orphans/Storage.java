package io.afterbay.orphans;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;

/**
 * Directories through Flink's file systems, and local ones as they are. Symbolic links are told,
 * and never followed.
 */
final class Storage {
    /** A job that runs deletes files while they are listed. */
    private static final int ATTEMPTS_MAX = 5;

    private static final String LOCAL_SCHEME = "file";

    private Storage() {}

    /**
     * What is in a directory.
     *
     * @param modifiedMs 0 if the file system does not say
     */
    record Entry(Path path, boolean isDirectory, boolean isLink, long bytes, long modifiedMs) {
        String name() {
            return path.getName();
        }

        /** A directory, and no link to one. */
        boolean isOwnDirectory() {
            return isDirectory && !isLink;
        }

        /** A file, and no link to one. */
        boolean isOwnFile() {
            return !isDirectory && !isLink;
        }

        StoredFile file() {
            return new StoredFile(path, bytes, modifiedMs);
        }
    }

    /**
     * The path as its file system calls it: absolute, and without symbolic links.
     *
     * @throws FileNotFoundException if there is nothing
     */
    static Path resolve(String text) throws IOException {
        URI uri = new Path(text).toUri();
        if (uri.getScheme() == null || isLocal(new Path(text))) {
            try {
                return local(java.nio.file.Path.of(uri.getPath()));
            } catch (NoSuchFileException e) {
                throw new FileNotFoundException("there is no " + text);
            }
        }
        Path path = new Path(text);
        path.getFileSystem().getFileStatus(path);
        return path;
    }

    /** Where a link leads to, if that can be told. */
    static Path target(Path link) throws IOException {
        return local(java.nio.file.Path.of(link.getPath()));
    }

    private static Path local(java.nio.file.Path path) throws IOException {
        return new Path(LOCAL_SCHEME, null, path.toRealPath().toString());
    }

    static List<Entry> list(Path directory) throws IOException {
        if (isLocal(directory)) {
            return localEntries(directory);
        }
        for (int attempt = 1; ; attempt++) {
            try {
                return entries(directory);
            } catch (FileNotFoundException e) {
                if (attempt == ATTEMPTS_MAX) {
                    throw e;
                }
            }
        }
    }

    private static boolean isLocal(Path path) {
        return LOCAL_SCHEME.equals(path.toUri().getScheme());
    }

    private static List<Entry> entries(Path directory) throws IOException {
        FileStatus[] found = directory.getFileSystem().listStatus(directory);
        if (found == null) {
            throw new FileNotFoundException("there is no " + directory);
        }
        List<Entry> entries = new ArrayList<>(found.length);
        for (FileStatus status : found) {
            entries.add(
                    new Entry(
                            status.getPath(),
                            status.isDir(),
                            false,
                            status.getLen(),
                            status.getModificationTime()));
        }
        return entries;
    }

    /** Not by Flink's, which fails if one file is deleted meanwhile, and does not tell links. */
    private static List<Entry> localEntries(Path directory) throws IOException {
        List<Entry> entries = new ArrayList<>();
        try (DirectoryStream<java.nio.file.Path> found =
                Files.newDirectoryStream(java.nio.file.Path.of(directory.getPath()))) {
            for (java.nio.file.Path path : found) {
                addLocal(path, entries);
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        } catch (NoSuchFileException e) {
            throw new FileNotFoundException("there is no " + directory);
        } catch (NotDirectoryException e) {
            throw new IOException(directory + " is not a directory", e);
        } catch (AccessDeniedException e) {
            throw new IOException(directory + " cannot be listed: permission denied", e);
        }
        return entries;
    }

    private static void addLocal(java.nio.file.Path path, List<Entry> entries) throws IOException {
        try {
            BasicFileAttributes attributes =
                    Files.readAttributes(
                            path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            entries.add(
                    new Entry(
                            new Path(LOCAL_SCHEME, null, path.toString()),
                            Files.isDirectory(path),
                            attributes.isSymbolicLink(),
                            attributes.size(),
                            attributes.lastModifiedTime().toMillis()));
        } catch (NoSuchFileException e) {
            // It was deleted meanwhile.
        }
    }

    static boolean exists(Path path) throws IOException {
        return path.getFileSystem().exists(path);
    }

    /** Deletes a file that is as it was when it was listed; false if it is not. */
    static boolean delete(StoredFile file) throws IOException {
        FileSystem files = file.path().getFileSystem();
        try {
            FileStatus now = files.getFileStatus(file.path());
            return !now.isDir()
                    && now.getLen() == file.bytes()
                    && now.getModificationTime() == file.modifiedMs()
                    && files.delete(file.path(), false);
        } catch (FileNotFoundException e) {
            return false;
        }
    }

    /** Deletes a directory if it is empty. */
    static void deleteEmpty(Path directory) throws IOException {
        if (list(directory).isEmpty()) {
            directory.getFileSystem().delete(directory, false);
        }
    }
}
