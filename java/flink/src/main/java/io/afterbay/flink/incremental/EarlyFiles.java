package io.afterbay.flink.incremental;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Files in checkpoint storage that no checkpoint refers to yet, because they were uploaded before
 * it began. They are ours to delete; one that is handed over belongs to that checkpoint, and to
 * Flink, whatever becomes of it (docs/flink-checkpoint-spi.md, 3). Thread-safe.
 */
final class EarlyFiles implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(EarlyFiles.class);
    private static final long POLL_MILLIS = 100;

    // All guarded by this.
    private final Map<String, Future<StreamStateHandle>> files = new HashMap<>();
    private final Set<StreamStateHandle> ours = Collections.newSetFromMap(new IdentityHashMap<>());
    private boolean closed;

    private final Transfers transfers = new Transfers(1);
    private final CloseableRegistry cancel = new CloseableRegistry();
    private final CheckpointFigures figures;

    EarlyFiles(CheckpointFigures figures) {
        this.figures = figures;
    }

    /** Uploads a file, behind those that were begun before. */
    synchronized void begin(String name, CheckpointStreamFactory storage, Uploads.Content content) {
        if (!closed) {
            files.put(name, transfers.begin(() -> upload(name, storage, content)));
        }
    }

    private StreamStateHandle upload(
            String name, CheckpointStreamFactory storage, Uploads.Content content)
            throws IOException {
        Uploads uploads = new Uploads(storage, cancel);
        uploads.share(name, content);
        StreamStateHandle handle = Objects.requireNonNull(uploads.handles().get(name));
        if (!own(handle)) {
            uploads.discard();
            throw new IOException("the task has ended");
        }
        return handle;
    }

    /** False if nobody is there to own it. */
    private synchronized boolean own(StreamStateHandle handle) {
        if (!closed) {
            ours.add(handle);
            figures.earlyFiles(ours.size());
        }
        return !closed;
    }

    private synchronized boolean disown(StreamStateHandle handle) {
        boolean wasOurs = ours.remove(handle);
        figures.earlyFiles(ours.size());
        return wasOurs;
    }

    /** Takes files that have been uploaded; after the end they are deleted, behind the caller. */
    void add(Map<String, StreamStateHandle> uploaded) {
        List<StreamStateHandle> refused = new ArrayList<>();
        uploaded.forEach(
                (name, handle) -> {
                    if (!add(name, handle)) {
                        refused.add(handle);
                    }
                });
        deleteUnawaited(refused);
    }

    private synchronized boolean add(String name, StreamStateHandle handle) {
        boolean isOurs = own(handle);
        if (isOurs) {
            files.put(name, CompletableFuture.completedFuture(handle));
        }
        return isOurs;
    }

    synchronized boolean has(String name) {
        return files.containsKey(name);
    }

    /**
     * Hands a file over, when it is there; null if there is none, or it could not be uploaded.
     *
     * @throws IOException if there is no use in waiting for it any more
     */
    @Nullable StreamStateHandle handOver(String name, BooleanSupplier isCancelled)
            throws IOException {
        Future<StreamStateHandle> upload;
        synchronized (this) {
            upload = files.get(name);
        }
        StreamStateHandle handle = upload == null ? null : await(upload, isCancelled);
        synchronized (this) {
            return handle != null && files.remove(name, upload) && disown(handle) ? handle : null;
        }
    }

    private static @Nullable StreamStateHandle await(
            Future<StreamStateHandle> upload, BooleanSupplier isCancelled) throws IOException {
        while (!isCancelled.getAsBoolean()) {
            try {
                return upload.get(POLL_MILLIS, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                // Still on its way.
            } catch (ExecutionException e) {
                LOG.info("The next checkpoint uploads a file again: {}", e.getMessage());
                return null;
            } catch (CancellationException e) {
                return null;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted while a file was uploaded");
            }
        }
        throw new IOException("the checkpoint is cancelled");
    }

    /** Deletes all other files, in the background. */
    synchronized void retain(Set<String> names) {
        List<Future<StreamStateHandle>> unused = new ArrayList<>();
        files.entrySet()
                .removeIf(file -> !names.contains(file.getKey()) && unused.add(file.getValue()));
        if (!unused.isEmpty() && !closed) {
            var deletion = transfers.begin(() -> deleteAll(unused)); // behind their uploads
        }
    }

    private int deleteAll(List<Future<StreamStateHandle>> uploads) throws InterruptedException {
        for (Future<StreamStateHandle> upload : uploads) {
            try {
                StreamStateHandle handle = upload.get();
                if (disown(handle)) {
                    delete(handle);
                }
            } catch (ExecutionException | CancellationException e) {
                LOG.debug("There is nothing to delete", e);
            }
        }
        return uploads.size();
    }

    /** For callers who must not wait for the storage, as they hold locks. */
    private static void deleteUnawaited(List<StreamStateHandle> handles) {
        if (!handles.isEmpty()) {
            BackgroundThreads.runUnawaited(() -> handles.forEach(EarlyFiles::delete));
        }
    }

    private static void delete(StreamStateHandle handle) {
        try {
            handle.discardState();
        } catch (Exception e) {
            LOG.warn(
                    "Cannot delete a file in checkpoint storage that no checkpoint has: {}",
                    handle,
                    e);
        }
    }

    /** Ends what is under way, and has the rest deleted; waits for nothing. */
    @Override
    public void close() {
        List<StreamStateHandle> left;
        synchronized (this) {
            closed = true;
            left = List.copyOf(ours);
            ours.clear();
            files.clear();
            figures.earlyFiles(0);
        }
        // Flink's streams cannot be closed while they wait for their storage.
        BackgroundThreads.runUnawaited(() -> IOUtils.closeQuietly(cancel));
        transfers.cancel();
        deleteUnawaited(left);
    }
}
