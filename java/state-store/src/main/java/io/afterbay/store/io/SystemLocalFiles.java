package io.afterbay.store.io;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * {@link LocalFiles} on {@link FileChannel}. Says in words what Java's exceptions say by their type
 * only: their messages are often no more than a path.
 */
enum SystemLocalFiles implements LocalFiles {
    INSTANCE;

    /** What systems say when there is no room for a file, or no more for this user. */
    private static final Pattern FULL = Pattern.compile("(?i)no space left|quota exceeded");

    private interface Operation<T> {
        T run() throws IOException;
    }

    @Override
    public void createDirectories(Path directory) throws IOException {
        explain(directory, () -> Files.createDirectories(directory));
    }

    @Override
    public LocalFile create(Path path) throws IOException {
        return explain(path, () -> ChannelFile.create(path));
    }

    @Override
    public LocalFile open(Path path) throws IOException {
        return explain(path, () -> ChannelFile.open(path));
    }

    @Override
    public void link(Path existing, Path link) throws IOException {
        explain(link, () -> Files.createLink(link, existing));
    }

    @Override
    public void delete(Path path) throws IOException {
        explain(path, () -> Files.deleteIfExists(path));
    }

    @Override
    public void deleteDirectory(Path directory) throws IOException {
        explain(directory, () -> Files.deleteIfExists(directory));
    }

    @Override
    public List<Path> list(Path directory) throws IOException {
        return explain(
                directory,
                () -> {
                    try (Stream<Path> entries = Files.list(directory)) {
                        return entries.toList();
                    }
                });
    }

    private <T> T explain(Path path, Operation<T> operation) throws IOException {
        try {
            return operation.run();
        } catch (FileSystemException e) {
            throw new IOException(path + ": " + reason(path, e), e);
        }
    }

    private String reason(Path path, FileSystemException e) {
        if (e instanceof NoSuchFileException) {
            return "no such file or directory";
        }
        if (e instanceof FileAlreadyExistsException) {
            return "exists already; every store needs a directory of its own";
        }
        if (e instanceof AccessDeniedException) {
            return "permission denied; the process needs to read and write here";
        }
        if (e instanceof DirectoryNotEmptyException) {
            return "directory is not empty, it holds "
                    + example(path)
                    + "; another process uses it";
        }
        String reason = e.getReason();
        if (reason == null) {
            return e.toString();
        }
        return FULL.matcher(reason).find() ? reason + " " + DiskAdvice.of(path) : reason;
    }

    private static String example(Path directory) {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.findFirst()
                    .map(Path::getFileName)
                    .map(Path::toString)
                    .orElse("nothing now");
        } catch (IOException e) {
            return "what cannot be listed";
        }
    }
}
