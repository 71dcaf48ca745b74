package io.afterbay.flink.incremental;

import io.afterbay.store.io.LocalFiles;
import java.io.BufferedOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalLocalKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProvider;
import org.apache.flink.runtime.state.SnapshotDirectory;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of incremental checkpoints on this machine, so that a task that comes back to it finds
 * them here and downloads nothing (Flink's local recovery; host affinity in Samza: Noghabi 2018,
 * section 3.4.1).
 *
 * <p>Nothing is copied: the store's own files get a second name when a base is written, and a third
 * one in the directory of each checkpoint, which Flink deletes with it. So the directories must lie
 * on one file system. What fails here costs the local copy, never the checkpoint.
 *
 * <p>{@link #retain}, {@link #distrust} and {@link #close} are called by the task's thread, all
 * else by those that upload, download or restore, which may still be at it when this is closed.
 */
public final class LocalCopies implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LocalCopies.class);

    /** Flink keeps the copies of the last completed checkpoint and of those under way. */
    private static final int MANIFESTS_MAX = 8;

    private static final String MANIFEST = "manifest";

    private final LocalFiles files;
    private final Deletions deletions;
    private final Path directory;
    private final LocalSnapshotDirectoryProvider checkpoints;
    private final CheckpointFigures figures;

    // All guarded by this.
    private final Set<String> written = new HashSet<>();
    private final Set<String> kept = new HashSet<>();
    private final Deque<Path> manifests = new ArrayDeque<>();
    private boolean closed;

    /**
     * @param directory of its own, beside that of the store; created when needed
     * @param checkpoints where Flink wants the copies
     */
    public LocalCopies(
            LocalFiles files,
            Path directory,
            LocalSnapshotDirectoryProvider checkpoints,
            CheckpointFigures figures) {
        this.files = files;
        this.deletions = new Deletions(files);
        this.directory = directory;
        this.checkpoints = checkpoints;
        this.figures = figures;
    }

    /**
     * A stream that writes to another one, and to a file as long as that works. Closing it leaves
     * the other one open; {@link #keepWritten} keeps the file.
     */
    OutputStream tee(String name, OutputStream out) {
        return new Tee(name, out);
    }

    private final class Tee extends OutputStream {
        private final String name;
        private final OutputStream out;
        private @Nullable OutputStream file;

        Tee(String name, OutputStream out) {
            this.name = name;
            this.out = out;
            toFile(() -> file = create(name));
        }

        private interface Writing {
            void run() throws IOException;
        }

        private void toFile(Writing writing) {
            try {
                writing.run();
            } catch (IOException e) {
                warn("cannot keep files of checkpoints", e);
                IOUtils.closeQuietly(file);
                file = null;
                delete(directory.resolve(name));
            }
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            out.write(bytes, offset, length);
            OutputStream present = file;
            if (present != null) {
                toFile(() -> present.write(bytes, offset, length));
            }
        }

        @Override
        public void close() {
            OutputStream present = file;
            if (present != null) {
                toFile(present::close);
            }
            if (file != null) {
                written(name);
            }
        }
    }

    private synchronized OutputStream create(String name) throws IOException {
        checkOpen();
        files.createDirectories(directory);
        return open(directory.resolve(name));
    }

    private void checkOpen() throws IOException {
        if (closed) {
            throw new IOException("the task has ended");
        }
    }

    private static OutputStream open(Path file) throws IOException {
        return new BufferedOutputStream(new FileOutputStream(file.toFile()));
    }

    private synchronized void written(String name) {
        written.add(name);
        if (closed) {
            deleteAll();
        }
    }

    /** What a tee has written is not needed. */
    synchronized void dropWritten(String name) {
        if (written.remove(name)) {
            delete(directory.resolve(name));
        }
    }

    /** Keeps what a tee has written, as long as it is retained; null if it could not. */
    synchronized @Nullable Path keepWritten(String name) {
        if (written.remove(name)) {
            kept.add(name);
            return directory.resolve(name);
        }
        return null;
    }

    /** Keeps a file, under a second name, as long as it is retained. */
    synchronized void keep(String name, Path file) {
        if (!kept.contains(name)) {
            deletions.await(); // of the same name, kept for a checkpoint that was aborted
            try {
                checkOpen();
                files.createDirectories(directory);
                files.link(file, directory.resolve(name));
                kept.add(name);
            } catch (IOException e) {
                warn("cannot keep files of checkpoints", e);
            }
        }
    }

    /** Deletes all other files. */
    synchronized void retain(Set<String> names) {
        kept.removeIf(
                name -> {
                    boolean isUnused = !names.contains(name);
                    if (isUnused) {
                        deletions.begin(directory.resolve(name));
                    }
                    return isUnused;
                });
    }

    private void delete(Path file) {
        try {
            files.delete(file);
        } catch (IOException e) {
            LOG.warn("Cannot delete a file that was kept for local recovery: {}", e.getMessage());
        }
    }

    /**
     * Puts a checkpoint into its local directory; null if that failed.
     *
     * @param shared its files in storage, for checkpoints that go on from it
     */
    @Nullable KeyedStateHandle copy(
            IncrementalContent<?> content,
            CheckpointManifest manifest,
            UUID backend,
            List<HandleAndLocalPath> shared) {
        long id = content.checkpoint().id;
        SnapshotDirectory copy = null;
        try {
            copy = create(id);
            Path path = copy.getDirectory();
            fill(path, manifest);
            Path meta = path.resolve(MANIFEST);
            try (OutputStream out = open(meta)) {
                manifest.write(content.states(), out);
            }
            made(meta);
            return new IncrementalLocalKeyedStateHandle(
                    backend,
                    id,
                    Objects.requireNonNull(copy.completeSnapshotAndGetHandle()),
                    manifest.keyGroups(),
                    new FileStateHandle(
                            new org.apache.flink.core.fs.Path(meta.toUri()), Files.size(meta)),
                    List.copyOf(shared));
        } catch (IOException | RuntimeException e) {
            failed(id, copy, e);
            return null;
        }
    }

    private synchronized void made(Path manifest) throws IOException {
        checkOpen();
        figures.localCopyMade();
        manifests.add(manifest);
        if (manifests.size() > MANIFESTS_MAX) {
            manifests.remove();
        }
    }

    /** The store has failed: what the copies share with it may be damaged, and none is restored. */
    public synchronized void distrust() {
        manifests.forEach(this::delete);
    }

    private SnapshotDirectory create(long checkpoint) throws IOException {
        Path parent = checkpoints.subtaskSpecificCheckpointDirectory(checkpoint).toPath();
        SnapshotDirectory copy =
                SnapshotDirectory.permanent(parent.resolve(UUID.randomUUID().toString()));
        copy.mkdirs();
        return copy;
    }

    private void fill(Path copy, CheckpointManifest manifest) throws IOException {
        for (String name : manifest.base().names().toList()) {
            files.link(directory.resolve(name), copy.resolve(name));
        }
        for (LogSegment segment : manifest.segments()) {
            Path file =
                    segment.local() == null
                            ? directory.resolve(segment.name())
                            : segment.local().path();
            files.link(file, copy.resolve(segment.name()));
        }
    }

    private void failed(long checkpoint, @Nullable SnapshotDirectory copy, Exception cause) {
        warn("checkpoint %d has no local copy".formatted(checkpoint), cause);
        try {
            if (copy != null) {
                copy.cleanup();
            }
        } catch (IOException e) {
            LOG.warn("Cannot delete half a local copy of a checkpoint: {}", e.getMessage());
        }
    }

    private void warn(String what, Exception cause) {
        figures.localCopyFailed();
        LOG.warn(
                "Local recovery: {}: {}; a restore will download the state. The directories of local"
                        + " state ({}) and of local recovery must be on one file system.",
                what,
                cause.getMessage(),
                directory.getParent());
    }

    /** The copies of checkpoints stay: they are Flink's. */
    @Override
    public synchronized void close() {
        closed = true;
        deleteAll();
    }

    private void deleteAll() {
        kept.addAll(written);
        written.clear();
        retain(Set.of());
        deletions.await();
        try {
            files.deleteDirectory(directory);
        } catch (IOException e) {
            LOG.warn("Cannot delete a directory of local recovery: {}", e.getMessage());
        }
    }

    /** The names of what a checkpoint needs and what is kept here only. */
    static Stream<String> needed(CheckpointFiles checkpoint) {
        return Stream.concat(
                checkpoint.baseNames(),
                checkpoint.segments.stream().filter(s -> !s.isLocal()).map(LogSegment::name));
    }
}
