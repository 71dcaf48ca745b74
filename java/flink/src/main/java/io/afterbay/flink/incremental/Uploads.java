package io.afterbay.flink.incremental;

import io.afterbay.store.StoreImage;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Future;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.filemerging.FileMergingSnapshotManager;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.Preconditions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of one checkpoint on their way to storage: new ones, and references to those that are
 * there. Used by one thread, but for the uploads that it begins; cancelled by closing the registry.
 */
final class Uploads {
    private static final Logger LOG = LoggerFactory.getLogger(Uploads.class);
    private static final int BUFFER_BYTES = 64 << 10;

    private final CheckpointStreamFactory storage;
    private final CloseableRegistry cancel;
    private final Map<String, StreamStateHandle> handles = new LinkedHashMap<>();
    private final List<HandleAndLocalPath> shared = new ArrayList<>();
    private final List<StreamStateHandle> created = new ArrayList<>();
    private final List<StreamStateHandle> reused = new ArrayList<>();
    private final Map<String, StreamStateHandle> takenOver = new HashMap<>();
    private long createdBytes;
    private long takenOverBytes;

    /** Writes the content of a file. */
    @FunctionalInterface
    interface Content {
        void writeTo(OutputStream out) throws IOException;
    }

    Uploads(CheckpointStreamFactory storage, CloseableRegistry cancel) {
        this.storage = storage;
        this.cancel = cancel;
    }

    /** Refers to a file that a confirmed checkpoint has. */
    void refer(String name, StreamStateHandle handle) {
        handles.put(name, handle);
        reused.add(handle);
        shared.add(
                HandleAndLocalPath.of(
                        new PlaceholderStreamStateHandle(
                                handle.getStreamStateHandleID(),
                                handle.getStateSize(),
                                FileMergingSnapshotManager.isFileMergingHandle(handle)),
                        name));
    }

    /** Takes over a file that was uploaded before, and that no other checkpoint has. */
    void takeOver(String name, StreamStateHandle handle) {
        takenOver.put(name, handle);
        takenOverBytes += handle.getStateSize();
        shared(name, handle);
    }

    /** Uploads a file that checkpoints share. */
    void share(String name, Content content) throws IOException {
        shared(name, upload(CheckpointedStateScope.SHARED, content));
    }

    private void shared(String name, StreamStateHandle handle) {
        handles.put(name, handle);
        shared.add(HandleAndLocalPath.of(handle, name));
    }

    /**
     * The content of a local file.
     *
     * @param length of it that counts
     */
    static Content of(Path file, long length) {
        return out -> copy(file, length, out, () -> {});
    }

    /**
     * Uploads local files that checkpoints share.
     *
     * @param files by their names in checkpoints
     * @param threads how many at a time
     */
    void share(Map<String, StoreImage.File> files, int threads) throws IOException {
        Map<String, Future<StreamStateHandle>> begun = new LinkedHashMap<>();
        try (Transfers transfers = new Transfers(threads)) {
            files.forEach(
                    (name, file) ->
                            begun.put(name, transfers.begin(() -> upload(file, transfers))));
            for (Map.Entry<String, Future<StreamStateHandle>> upload : begun.entrySet()) {
                shared(upload.getKey(), Transfers.await(upload.getValue()));
            }
        }
    }

    private StreamStateHandle upload(StoreImage.File file, Transfers transfers) throws IOException {
        return upload(
                CheckpointedStateScope.SHARED,
                out -> copy(file.path(), file.bytes(), out, transfers::check));
    }

    /** Throws if there is no use in going on. */
    private interface Check {
        void run() throws IOException;
    }

    /** Not by channels, which an interrupt closes. */
    private static void copy(Path file, long length, OutputStream out, Check check)
            throws IOException {
        byte[] buffer = new byte[BUFFER_BYTES];
        try (InputStream in = new FileInputStream(file.toFile())) {
            long left = length;
            while (left > 0) {
                check.run();
                int read = in.read(buffer, 0, (int) Math.min(left, buffer.length));
                if (read < 0) {
                    throw new IOException(
                            "%s: it ends at byte %d of %d; the file is damaged"
                                    .formatted(file, length - left, length));
                }
                out.write(buffer, 0, read);
                left -= read;
            }
        }
    }

    /** Uploads a file that only this checkpoint has. */
    StreamStateHandle exclusive(Content content) throws IOException {
        return upload(CheckpointedStateScope.EXCLUSIVE, content);
    }

    private StreamStateHandle upload(CheckpointedStateScope scope, Content content)
            throws IOException {
        CheckpointStateOutputStream out = open(scope);
        write(out, content);
        return complete(out);
    }

    private CheckpointStateOutputStream open(CheckpointedStateScope scope) throws IOException {
        CheckpointStateOutputStream out = storage.createCheckpointStateOutputStream(scope);
        boolean registered = false;
        try {
            cancel.registerCloseable(out);
            registered = true;
            return out;
        } finally {
            if (!registered) {
                IOUtils.closeQuietly(out);
            }
        }
    }

    private void write(CheckpointStateOutputStream out, Content content) throws IOException {
        boolean written = false;
        try {
            content.writeTo(out);
            written = true;
        } finally {
            if (!written && cancel.unregisterCloseable(out)) {
                IOUtils.closeQuietly(out);
            }
        }
    }

    private StreamStateHandle complete(CheckpointStateOutputStream out) throws IOException {
        if (!cancel.unregisterCloseable(out)) {
            throw new IOException(
                    "the stream of the checkpoint was closed: the checkpoint is cancelled");
        }
        StreamStateHandle handle = Preconditions.checkNotNull(out.closeAndGetHandle());
        created(handle);
        return handle;
    }

    private synchronized void created(StreamStateHandle handle) {
        created.add(handle);
        createdBytes += handle.getStateSize();
    }

    /** Tells the storage what is referred to; to be called when all else is done. */
    void finish() {
        storage.reusePreviousStateHandle(reused);
    }

    /** Deletes what was uploaded; what was taken over is left to whoever it came from. */
    synchronized void discard() {
        for (StreamStateHandle handle : created) {
            try {
                handle.discardState();
            } catch (Exception e) {
                LOG.warn("Cannot delete a file of a checkpoint that failed: {}", handle, e);
            }
        }
    }

    /** All shared files, by name. */
    Map<String, StreamStateHandle> handles() {
        return handles;
    }

    Set<String> names() {
        return handles.keySet();
    }

    boolean isCancelled() {
        return cancel.isClosed();
    }

    /** All shared files, as the JobManager gets them. */
    List<HandleAndLocalPath> shared() {
        return shared;
    }

    /** What was taken over, by name. */
    Map<String, StreamStateHandle> takenOver() {
        return takenOver;
    }

    /** Uploaded here. */
    synchronized long createdBytes() {
        return createdBytes;
    }

    /** Uploaded here or before, and new to checkpoints. */
    synchronized long newBytes() {
        return createdBytes + takenOverBytes;
    }
}
