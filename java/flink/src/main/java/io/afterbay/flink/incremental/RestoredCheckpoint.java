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
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;

/** An incremental checkpoint in storage, of one operator instance. */
public final class RestoredCheckpoint {
    private static final int BUFFER_BYTES = 64 << 10;

    private final IncrementalRemoteKeyedStateHandle handle;
    private final CheckpointManifest manifest;
    private final byte[] states;
    private final Map<String, StreamStateHandle> files;
    private final CloseableRegistry cancel;

    private RestoredCheckpoint(
            IncrementalRemoteKeyedStateHandle handle,
            CheckpointManifest.Read read,
            CloseableRegistry cancel) {
        this.handle = handle;
        this.manifest = read.manifest();
        this.states = read.states();
        this.files =
                handle.getSharedState().stream()
                        .collect(
                                Collectors.toMap(
                                        HandleAndLocalPath::getLocalPath,
                                        HandleAndLocalPath::getHandle,
                                        (one, same) -> one,
                                        HashMap::new));
        this.cancel = cancel;
    }

    /**
     * Reads the manifest; null if the handle is none of our incremental checkpoints.
     *
     * @param cancel closes what is being read
     */
    public static @Nullable RestoredCheckpoint read(
            KeyedStateHandle handle, CloseableRegistry cancel) throws IOException {
        if (!(handle instanceof IncrementalRemoteKeyedStateHandle incremental)) {
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
            return new RestoredCheckpoint(
                    incremental, CheckpointManifest.read(buffered, meta.toString()), cancel);
        } finally {
            close(in, cancel);
        }
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
     */
    public StateStore open(StoreFactory stores, StoreOptions options) throws IOException {
        InputStream index = openFile(manifest.base().indexName());
        try {
            return stores.open(options, index, download(options));
        } finally {
            close(index, cancel);
        }
    }

    /** Into the directory of the store, which deletes what it needs no more. */
    private ImageFiles download(StoreOptions options) {
        Map<Integer, Base.Segment> segments = new HashMap<>();
        manifest.base().segments().forEach(segment -> segments.put(segment.number(), segment));
        return number -> {
            Base.Segment segment = segments.get(number);
            if (segment == null) {
                throw new IOException("file %d is not in the manifest".formatted(number));
            }
            return download(segment, options);
        };
    }

    private LocalFile download(Base.Segment segment, StoreOptions options) throws IOException {
        InputStream in = openFile(segment.name());
        Path path = options.directory().resolve(segment.name());
        LocalFile file = options.files().create(path);
        boolean complete = false;
        try {
            copy(in, segment, file);
            complete = true;
            return file;
        } finally {
            close(in, cancel);
            if (!complete) {
                file.close();
                options.files().delete(path); // the store does not know it yet
            }
        }
    }

    private static void copy(InputStream in, Base.Segment segment, LocalFile file)
            throws IOException {
        byte[] buffer = new byte[BUFFER_BYTES];
        long position = 0;
        for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
            ByteBuffer part = ByteBuffer.wrap(buffer, 0, read);
            while (part.hasRemaining()) {
                position += file.write(part, position);
            }
        }
        if (position != segment.bytes()) {
            throw new IOException(
                    "%s has %d bytes instead of %d"
                            .formatted(segment.name(), position, segment.bytes()));
        }
    }

    private InputStream openFile(String name) throws IOException {
        StreamStateHandle file = files.get(name);
        if (file == null) {
            throw new IOException(
                    "%s has no file %s; restore from another checkpoint".formatted(name(), name));
        }
        FSDataInputStream in = file.openInputStream();
        cancel.registerCloseable(in);
        return in;
    }

    /** Brings the store from the base to the checkpoint. */
    public void replay(StateStore store) throws IOException {
        replay(store, () -> {});
    }

    private void replay(StateStore store, Runnable betweenChunks) throws IOException {
        KeyGroupRange all = manifest.keyGroups();
        RedoReplay replay = new RedoReplay(store, all.getStartKeyGroup(), all.getEndKeyGroup());
        for (LogSegment segment : manifest.segments()) {
            InputStream in = openFile(segment.name());
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
    }

    /** Registers the states of a store that has the content. */
    public void restoreStates(StateRestore<?> restore) throws Exception {
        restore.restoreStates(new ByteArrayInputStream(states), name(), manifest.keyGroups());
    }

    /**
     * Registers the states, and copies what belongs to the key groups of the restored backend.
     *
     * @param options of a store for the time of the copy, with {@link #keyGroups}; its owner is set
     */
    public void copy(StateRestore<?> restore, StoreFactory stores, StoreOptions options)
            throws Exception {
        OwnerTasks tasks = new OwnerTasks();
        try (StateStore from = open(stores, options.withOwner(tasks))) {
            replay(from, tasks::runAll);
            restore.copy(
                    new ByteArrayInputStream(states),
                    name(),
                    manifest.keyGroups(),
                    from,
                    tasks::runAll);
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
