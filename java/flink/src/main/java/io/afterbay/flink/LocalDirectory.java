package io.afterbay.flink;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where a backend has its local files. A lock beside it, which ends with the process, tells other
 * processes that it is in use:
 *
 * <pre>
 *   ROOT/afterbay_job_J_op_O_PROCESS_N         the store's files
 *   ROOT/afterbay_job_J_op_O_PROCESS_N_redo    and so on: files beside those
 *   ROOT/afterbay_job_J_op_O_PROCESS_N.lock    locked as long as the process lives
 * </pre>
 *
 * <p>What a killed process has left, or a backend could not delete, is {@link #collectLeftovers
 * collected} by the next one: who gets the lock knows that nobody has it. Without a lock beside it,
 * nothing is ever deleted.
 */
final class LocalDirectory implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LocalDirectory.class);
    private static final String PREFIX = "afterbay_job_";
    private static final String SPILLING = "flink-io-";
    private static final String LOCK = ".lock";
    private static final String NEW_LOCK = ".new";
    private static final AtomicInteger COUNT = new AtomicInteger();

    /** Of this virtual machine, whichever class loaders have this class. */
    private static final String PROCESS_PROPERTY = "io.afterbay.flink.process";

    private static final String PROCESS =
            (String)
                    System.getProperties()
                            .computeIfAbsent(
                                    PROCESS_PROPERTY, none -> UUID.randomUUID().toString());

    private final Path path;
    private final @Nullable FileChannel lock;

    private LocalDirectory(Path path, @Nullable FileChannel lock) {
        this.path = path;
        this.lock = lock;
    }

    /**
     * Claims a new one; it is not created. Where locks do not work, or nothing can be written, it
     * has none.
     *
     * @param root is created if it is missing
     */
    static LocalDirectory claim(Path root, String job, String operator) {
        String name =
                PREFIX
                        + "%s_op_%s_%s_%d"
                                .formatted(
                                        job,
                                        operator.replaceAll("[^a-zA-Z0-9\\-]", "_"),
                                        PROCESS,
                                        COUNT.incrementAndGet());
        Path path = root.toAbsolutePath().resolve(name);
        return new LocalDirectory(path, lock(path));
    }

    private static Path lockOf(Path path) {
        return path.resolveSibling(path.getFileName() + LOCK);
    }

    /** Whoever looks for leftovers sees the file only when it is locked. */
    private static @Nullable FileChannel lock(Path path) {
        Path unseen = path.resolveSibling(path.getFileName() + NEW_LOCK);
        FileChannel channel = null;
        boolean locked = false;
        try {
            Files.createDirectories(path.getParent());
            channel =
                    FileChannel.open(
                            unseen, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            locked = channel.tryLock() != null;
            if (locked) {
                Files.move(unseen, lockOf(path), StandardCopyOption.ATOMIC_MOVE);
            }
        } catch (IOException e) {
            locked = false;
            LOG.warn("{} has no lock: if this process is killed, its files stay", path, e);
        }
        if (!locked) {
            IOUtils.closeQuietly(channel);
            deleteQuietly(unseen);
            return null;
        }
        return channel;
    }

    /** Of the store. */
    Path path() {
        return path;
    }

    /** Everything in it should be deleted by now; what is not is left to others. Idempotent. */
    @Override
    public void close() {
        if (lock != null && lock.isOpen()) {
            if (isNothingLeft()) {
                deleteQuietly(lockOf(path)); // before somebody else can lock it
            }
            IOUtils.closeQuietly(lock);
        }
    }

    private boolean isNothingLeft() {
        try {
            Path root = Objects.requireNonNull(path.getParent());
            List<Path> left = filesOf(root, path.getFileName().toString());
            if (!left.isEmpty()) {
                LOG.warn("{} could not be deleted; the next process that starts does", left);
            }
            return left.isEmpty();
        } catch (IOException | UncheckedIOException e) {
            LOG.debug("Cannot look for what is left beside {}", path, e);
            return false;
        }
    }

    private static void deleteQuietly(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            LOG.debug("Cannot delete {}", file, e);
        }
    }

    // ---------------------------------------------------------------- what others have left

    /**
     * Deletes what processes have left in a directory that live no more.
     *
     * @return how many backends' files these were
     */
    static int collectLeftovers(Path root) {
        List<Path> locks;
        try (Stream<Path> files = Files.list(root)) {
            locks = files.filter(LocalDirectory::isLockOfOther).toList();
        } catch (IOException e) {
            return 0; // there is no such directory yet
        }
        return (int) locks.stream().filter(lock -> collectIfLeft(root, lock)).count();
    }

    /**
     * Locks of this process are never opened: to close any channel of a file gives up all locks
     * that a process has on it.
     */
    private static boolean isLockOfOther(Path file) {
        String name = file.getFileName().toString();
        return name.startsWith(PREFIX) && name.endsWith(LOCK) && !name.contains(PROCESS);
    }

    private static boolean collectIfLeft(Path root, Path lockFile) {
        try (FileChannel channel = FileChannel.open(lockFile, StandardOpenOption.WRITE);
                FileLock lock = channel.tryLock()) {
            if (lock == null) {
                return false;
            }
            String name = lockFile.getFileName().toString();
            collect(root, name.substring(0, name.length() - LOCK.length()));
            Files.deleteIfExists(lockFile); // last: until then somebody can try again
            LOG.info("Deleted what a process that ended has left: {}", name);
            return true;
        } catch (NoSuchFileException e) {
            return false; // somebody else has collected it, or its owner has just ended
        } catch (IOException | OverlappingFileLockException e) {
            LOG.warn("Cannot delete what a process has left behind {}", lockFile, e);
            return false;
        }
    }

    private static void collect(Path root, String name) throws IOException {
        for (Path directory : filesOf(root, name)) {
            deleteAll(directory);
        }
    }

    private static List<Path> filesOf(Path root, String name) throws IOException {
        try (Stream<Path> files = Files.list(root)) {
            return files.filter(file -> isOf(name, file)).toList();
        }
    }

    /** Itself, or with something behind it; not that of another number. */
    private static boolean isOf(String name, Path file) {
        String other = file.getFileName().toString();
        return other.equals(name) || other.startsWith(name + "_");
    }

    private static void deleteAll(Path directory) throws IOException {
        Files.walkFileTree(
                directory,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                            throws IOException {
                        Files.deleteIfExists(file);
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException e)
                            throws IOException {
                        Files.deleteIfExists(visited);
                        return FileVisitResult.CONTINUE;
                    }
                });
    }

    /** Whether it is a spilling directory of Flink's, which has a new name with each start. */
    static boolean isOfOneStart(File root) {
        return root.getName().startsWith(SPILLING);
    }

    /** Flink's spilling directories in a temporary directory. */
    static List<Path> rootsOfOtherProcesses(Path temporary) throws IOException {
        try (Stream<Path> files = Files.list(temporary)) {
            return files.filter(file -> isOfOneStart(file.toFile()))
                    .filter(Files::isDirectory)
                    .toList();
        }
    }
}
