package io.afterbay.flink.incremental;

import io.afterbay.flink.snapshot.StateRestore;
import io.afterbay.flink.state.StoreFactory;
import io.afterbay.store.ImageFiles;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStoreException;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.LocalFile;
import io.afterbay.store.redo.RedoReader;
import io.afterbay.store.redo.RedoReplay;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.AbstractIncrementalStateHandle;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalLocalKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An incremental checkpoint of one operator instance, in storage or in a local directory. */
public final class RestoredCheckpoint implements Downloads.Source {
    private static final Logger LOG = LoggerFactory.getLogger(RestoredCheckpoint.class);
    private static final int BUFFER_BYTES = 64 << 10;

    private final AbstractIncrementalStateHandle handle;
    private final CheckpointManifest manifest;
    private final byte[] states;
    private final Map<String, StreamStateHandle> files;
    private final @Nullable Path directory;
    private final CloseableRegistry cancel;

    /** What goes on behind the store; null if nothing does. */
    private @Nullable LazyDownloads downloads;

    private RestoredCheckpoint(
            AbstractIncrementalStateHandle handle,
            CheckpointManifest.Read read,
            CloseableRegistry cancel) {
        this.handle = handle;
        this.manifest = read.manifest();
        this.states = read.states();
        this.files =
                handle.getSharedStateHandles().stream()
                        .collect(
                                Collectors.toMap(
                                        HandleAndLocalPath::getLocalPath,
                                        HandleAndLocalPath::getHandle,
                                        (one, same) -> one,
                                        HashMap::new));
        this.directory =
                handle instanceof IncrementalLocalKeyedStateHandle local
                        ? local.getDirectoryStateHandle().getDirectory()
                        : null;
        this.cancel = cancel;
    }

    /**
     * Reads the manifest; null if the handle is none of our incremental checkpoints.
     *
     * @param cancel closes what is being read
     */
    public static @Nullable RestoredCheckpoint read(
            KeyedStateHandle handle, CloseableRegistry cancel) throws IOException {
        if (!(handle instanceof AbstractIncrementalStateHandle incremental)) {
            return null;
        }
        StreamStateHandle meta = incremental.getMetaDataStateHandle();
        FSDataInputStream in = meta.openInputStream();
        cancel.registerCloseable(in);
        try {
            InputStream buffered = new BufferedInputStream(in);
            if (!CheckpointManifest.recognises(
                    buffered.readNBytes(CheckpointManifest.magicBytes()))) {
                return null;
            }
            RestoredCheckpoint checkpoint =
                    new RestoredCheckpoint(
                            incremental,
                            CheckpointManifest.read(buffered, meta.toString()),
                            cancel);
            checkpoint.checkDirectory();
            return checkpoint;
        } finally {
            close(in, cancel);
        }
    }

    /** What is found out now can be restored from storage; Flink tries that next. */
    private void checkDirectory() throws IOException {
        if (directory != null) {
            check(manifest.base().indexName(), 1);
            for (Base.Segment segment : manifest.base().segments()) {
                check(segment.name(), segment.bytes());
            }
            for (LogSegment segment : manifest.segments()) {
                check(segment.name(), segment.bytes());
            }
        }
    }

    private void check(String name, long bytesMin) throws IOException {
        Path file = Objects.requireNonNull(directory).resolve(name);
        if (!Files.isRegularFile(file) || Files.size(file) < bytesMin) {
            throw new IOException(
                    "%s: the local copy is not complete: %s has less than %d bytes"
                            .formatted(name(), file, bytesMin));
        }
    }

    @Override
    public void close(InputStream in) {
        close(in, cancel);
    }

    private static void close(InputStream in, CloseableRegistry cancel) {
        if (cancel.unregisterCloseable(in)) {
            IOUtils.closeQuietly(in);
        }
    }

    /** Of the store that wrote it. */
    public KeyGroupRange keyGroups() {
        return manifest.keyGroups();
    }

    /** Names it in messages. */
    private String name() {
        return "incremental checkpoint %d (%s)"
                .formatted(handle.getCheckpointId(), handle.getMetaDataStateHandle());
    }

    /**
     * Opens a store with the base.
     *
     * @param options with {@link #keyGroups}
     * @param copies keep the files; null for none
     * @param threads files that are downloaded at a time
     * @param isLazy whether pages may come from storage while the store is used, see {@link
     *     #handOver}
     */
    public StateStore open(
            StoreFactory stores,
            StoreOptions options,
            @Nullable LocalCopies copies,
            int threads,
            boolean isLazy)
            throws IOException {
        boolean isBehind = isLazy && directory == null;
        logRestore(options, isBehind ? ", segments behind the start" : "");
        return isBehind
                ? openBefore(stores, options, copies, threads, null)
                : openBehind(stores, options, copies, threads);
    }

    private void logRestore(StoreOptions options, String how) {
        LOG.info(
                "{}: restoring {} from {}{}",
                options.name(),
                name(),
                directory == null ? "checkpoint storage" : "its local copy in " + directory,
                how);
    }

    /** When all files are here. */
    private StateStore openBehind(
            StoreFactory stores, StoreOptions options, @Nullable LocalCopies copies, int threads)
            throws IOException {
        try (Downloads present = new Downloads(options, threads)) {
            if (directory == null) {
                manifest.base().segments().forEach(segment -> present.begin(segment, this));
            }
            Opening opening =
                    segment -> {
                        LocalFile file =
                                directory == null
                                        ? present.take(segment)
                                        : link(segment, options, present);
                        keep(segment, options, copies);
                        return file;
                    };
            StateStore store = open(stores, options, opening, copies);
            present.storeIsOpen();
            return store;
        }
    }

    /**
     * When the index is here.
     *
     * @param needed what is downloaded ahead of need, null for all
     */
    private StateStore openBefore(
            StoreFactory stores,
            StoreOptions options,
            @Nullable LocalCopies copies,
            int threads,
            @Nullable KeyGroupRange needed)
            throws IOException {
        LazyDownloads behind = new LazyDownloads(name(), files, threads);
        cancel.registerCloseable(behind);
        downloads = behind;
        StateStore store = null;
        boolean begun = false;
        try {
            Opening opening =
                    segment ->
                            behind.add(
                                    segment,
                                    options.files(),
                                    options.directory().resolve(segment.name()),
                                    () -> keep(segment, options, copies));
            store = open(stores, options, opening, copies);
            begin(behind, store, needed);
            begun = true;
            return store;
        } finally {
            if (!begun) {
                cancelDownloads(); // first: the store waits for who reads from it
                IOUtils.closeQuietly(store);
            }
        }
    }

    /** Fails if it is cancelled meanwhile, or the store has no memory for a snapshot. */
    private void begin(LazyDownloads behind, StateStore store, @Nullable KeyGroupRange needed) {
        if (needed != null) {
            behind.restrictTo(chunksOf(needed, store));
        } else {
            behind.orderByTriggers(store.snapshot(), names());
        }
        behind.start();
    }

    private Map<Integer, String> names() {
        return manifest.base().segments().stream()
                .collect(Collectors.toMap(Base.Segment::number, Base.Segment::name));
    }

    private Map<String, BitSet> chunksOf(KeyGroupRange needed, StateStore store) {
        Map<Integer, BitSet> byNumber =
                store.chunksOf(needed.getStartKeyGroup(), needed.getEndKeyGroup());
        return manifest.base().segments().stream()
                .filter(segment -> byNumber.containsKey(segment.number()))
                .collect(Collectors.toMap(Base.Segment::name, s -> byNumber.get(s.number())));
    }

    private static void keep(
            Base.Segment segment, StoreOptions options, @Nullable LocalCopies copies) {
        if (copies != null) {
            copies.keep(segment.name(), options.directory().resolve(segment.name()));
        }
    }

    /**
     * The restore is done: what goes on behind the store is cancelled with another registry from
     * now on.
     */
    public void handOver(CloseableRegistry running) throws IOException {
        if (downloads != null && cancel.unregisterCloseable(downloads)) {
            running.registerCloseable(downloads);
        }
    }

    /** Before the store is closed, if the restore fails. */
    public void cancelDownloads() {
        if (downloads != null) {
            cancel.unregisterCloseable(downloads);
            IOUtils.closeQuietly(downloads);
        }
    }

    /** What has to come from storage yet. */
    public long missingBytes() {
        return downloads == null ? 0 : downloads.missingBytes();
    }

    @Nullable LazyDownloads downloads() {
        return downloads;
    }

    /** Makes a segment known to the store. */
    private interface Opening {
        LocalFile open(Base.Segment segment) throws IOException;
    }

    private StateStore open(
            StoreFactory stores,
            StoreOptions options,
            Opening opening,
            @Nullable LocalCopies copies)
            throws IOException {
        InputStream index = openFile(manifest.base().indexName(), copies);
        try {
            return stores.open(options, index, files(opening));
        } finally {
            close(index);
        }
    }

    /** In the directory of the store, which deletes what it needs no more. */
    private ImageFiles files(Opening opening) {
        Map<Integer, Base.Segment> segments = new HashMap<>();
        manifest.base().segments().forEach(segment -> segments.put(segment.number(), segment));
        return number -> {
            Base.Segment segment = segments.get(number);
            if (segment == null) {
                throw new IOException("file %d is not in the manifest".formatted(number));
            }
            return opening.open(segment);
        };
    }

    /** Where files cannot be linked, from one disk to another, they are copied. */
    private LocalFile link(Base.Segment segment, StoreOptions options, Downloads downloads)
            throws IOException {
        Path path = options.directory().resolve(segment.name());
        try {
            options.files().link(Objects.requireNonNull(directory).resolve(segment.name()), path);
        } catch (IOException e) {
            downloads.begin(segment, this);
            return downloads.take(segment);
        }
        boolean opened = false;
        try {
            LocalFile file = options.files().open(path);
            opened = true;
            return file;
        } finally {
            if (!opened) {
                options.files().delete(path); // the store does not know it yet
            }
        }
    }

    /** Opens a file, and has it kept. */
    private InputStream openFile(String name, @Nullable LocalCopies copies) throws IOException {
        if (copies == null) {
            return openFile(name);
        }
        if (directory != null) {
            copies.keep(name, directory.resolve(name));
            return openFile(name);
        }
        InputStream in = openFile(name);
        try (OutputStream file = copies.tee(name, OutputStream.nullOutputStream())) {
            in.transferTo(file);
        } finally {
            close(in, cancel);
        }
        Path written = copies.keepWritten(name);
        return written == null ? openFile(name) : open(written);
    }

    private InputStream openFile(String name) throws IOException {
        return open(name);
    }

    @Override
    public InputStream open(String name) throws IOException {
        if (directory != null) {
            return open(directory.resolve(name));
        }
        StreamStateHandle file = files.get(name);
        if (file == null) {
            throw new IOException(
                    "%s has no file %s; restore from another checkpoint".formatted(name(), name));
        }
        FSDataInputStream in = file.openInputStream();
        cancel.registerCloseable(in);
        return in;
    }

    private InputStream open(Path file) throws IOException {
        InputStream in = new BufferedInputStream(new FileInputStream(file.toFile()), BUFFER_BYTES);
        cancel.registerCloseable(in);
        return in;
    }

    /**
     * Brings the store from the base to the checkpoint.
     *
     * @param copies keep the log; null for none
     */
    public void replay(StateStore store, @Nullable LocalCopies copies) throws IOException {
        replay(store, manifest.keyGroups(), copies, () -> {});
    }

    private void replay(
            StateStore store,
            KeyGroupRange needed,
            @Nullable LocalCopies copies,
            Runnable betweenChunks)
            throws IOException {
        RedoReplay replay =
                new RedoReplay(store, needed.getStartKeyGroup(), needed.getEndKeyGroup());
        long start = System.nanoTime();
        store.beginReplay(manifest.segments().stream().mapToLong(LogSegment::bytes).sum());
        for (LogSegment segment : manifest.segments()) {
            InputStream in = openFile(segment.name(), copies);
            try {
                RedoReader reader =
                        new RedoReader(
                                name() + ": " + segment.name(),
                                new BufferedInputStream(in, BUFFER_BYTES),
                                segment.log(),
                                segment.number());
                while (reader.next()) {
                    replay.apply(reader.chunk(), reader.length());
                    betweenChunks.run();
                }
            } catch (StateStoreException e) {
                throw new IOException(
                        "%s: cannot apply %s: %s".formatted(name(), segment.name(), e.getMessage()),
                        e);
            } finally {
                close(in, cancel);
            }
        }
        store.endReplay();
        LOG.info(
                "{}: replayed {} changes in {} ms",
                name(),
                replay.changes(),
                (System.nanoTime() - start) / 1_000_000);
    }

    /** Registers the states of a store that has the content. */
    public void restoreStates(StateRestore<?> restore) throws Exception {
        restore.restoreStates(new ByteArrayInputStream(states), name(), manifest.keyGroups());
    }

    /**
     * Registers the states, and copies what belongs to the key groups of the restored backend.
     *
     * @param options of a store for the time of the copy, with {@link #keyGroups}; its owner is set
     * @param needed the key groups of the restored backend; only of those the log is replayed
     * @param threads files that are downloaded at a time
     * @param isLazy whether the copy may begin before all files are here
     */
    public void copy(
            StateRestore<?> restore,
            StoreFactory stores,
            StoreOptions options,
            KeyGroupRange needed,
            int threads,
            boolean isLazy)
            throws Exception {
        OwnerTasks tasks = new OwnerTasks();
        KeyGroupRange common = manifest.keyGroups().getIntersection(needed);
        try (StateStore from = open(stores, options.withOwner(tasks), common, threads, isLazy)) {
            try {
                replay(from, common, null, tasks::runAll);
                restore.copy(
                        new ByteArrayInputStream(states),
                        name(),
                        manifest.keyGroups(),
                        from,
                        tasks::runAll);
            } finally {
                cancelDownloads(); // before the store is closed
            }
        }
    }

    /** For the time of a copy. */
    private StateStore open(
            StoreFactory stores,
            StoreOptions options,
            KeyGroupRange needed,
            int threads,
            boolean isLazy)
            throws IOException {
        boolean isBehind = isLazy && directory == null;
        logRestore(options, ", key groups " + needed.prettyPrintInterval());
        return isBehind
                ? openBefore(stores, options, null, threads, needed)
                : openBehind(stores, options, null, threads);
    }

    /** Nothing is to be restored from the local copy any more: it may be damaged. */
    public void distrust() {
        if (directory != null) {
            try {
                handle.getMetaDataStateHandle().discardState();
            } catch (Exception e) {
                LOG.warn("Cannot delete the manifest of a local copy of a checkpoint", e);
            }
        }
    }

    /** What later checkpoints can refer to. */
    CheckpointFiles files() {
        CheckpointFiles restored =
                new CheckpointFiles(
                        handle.getCheckpointId(), 0, manifest.base(), manifest.segments());
        restored.handles = Map.copyOf(files);
        return restored;
    }
}
