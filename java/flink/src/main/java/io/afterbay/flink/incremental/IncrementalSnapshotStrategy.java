package io.afterbay.flink.incremental;

import io.afterbay.store.StoreImage;
import io.afterbay.store.StoreSnapshot;
import io.afterbay.store.redo.RedoSegment;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.SnapshotStrategy;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.jspecify.annotations.Nullable;

/** Writes one incremental checkpoint, {@code spec/checkpoint-manifest.md}. */
public final class IncrementalSnapshotStrategy<K>
        implements SnapshotStrategy<KeyedStateHandle, IncrementalContent<K>> {
    private final IncrementalSnapshots<K> snapshots;
    private final @Nullable LocalCopies localCopies;
    private final @Nullable LazyDownloads downloads;
    private final UUID backend;
    private final CheckpointStreamFactory storage;
    private final CheckpointOptions options;

    /**
     * @param backend identity of the backend
     * @param storage of this checkpoint
     */
    public IncrementalSnapshotStrategy(
            IncrementalSnapshots<K> snapshots,
            UUID backend,
            CheckpointStreamFactory storage,
            CheckpointOptions options) {
        this.snapshots = snapshots;
        this.localCopies = snapshots.localCopies();
        this.downloads = snapshots.downloads();
        this.backend = backend;
        this.storage = storage;
        this.options = options;
    }

    @Override
    public IncrementalContent<K> syncPrepareResources(long checkpointId) {
        boolean isFull =
                options.getCheckpointType().getSharingFilesStrategy()
                        != SnapshotType.SharingFilesStrategy.FORWARD_BACKWARD;
        return snapshots.begin(checkpointId, isFull, storage);
    }

    @Override
    public SnapshotResultSupplier<KeyedStateHandle> asyncSnapshot(
            IncrementalContent<K> content,
            long checkpointId,
            long timestamp,
            CheckpointStreamFactory streamFactory,
            CheckpointOptions checkpointOptions) {
        if (content.states().isEmpty()) {
            return registry -> SnapshotResult.empty();
        }
        return registry -> upload(content, registry);
    }

    private SnapshotResult<KeyedStateHandle> upload(
            IncrementalContent<K> content, CloseableRegistry registry) throws IOException {
        Uploads uploads = new Uploads(storage, registry);
        boolean uploaded = false;
        try {
            SnapshotResult<KeyedStateHandle> result = upload(content, uploads);
            checkNotCancelled(result, registry);
            snapshots.uploaded(content.checkpoint(), uploads.handles(), uploads.bytes());
            uploaded = true;
            return result;
        } finally {
            if (!uploaded) {
                snapshots.failed(content.checkpoint());
                uploads.discard();
            }
        }
    }

    /** Nobody would discard the local copy of a checkpoint that was cancelled. */
    private static void checkNotCancelled(
            SnapshotResult<KeyedStateHandle> result, CloseableRegistry registry)
            throws IOException {
        KeyedStateHandle local = result.getTaskLocalSnapshot();
        if (local != null && registry.isClosed()) {
            try {
                local.discardState();
            } catch (Exception e) {
                throw new IOException("cannot delete the local copy of a cancelled checkpoint", e);
            }
            throw new IOException("the checkpoint is cancelled");
        }
    }

    private SnapshotResult<KeyedStateHandle> upload(IncrementalContent<K> content, Uploads uploads)
            throws IOException {
        CheckpointFiles checkpoint = content.checkpoint();
        Base base = checkpoint.base;
        if (base == null) {
            base = uploadBase(content, uploads);
        } else {
            base.names().forEach(name -> uploads.refer(name, reusable(content, name)));
        }
        for (LogSegment segment : checkpoint.segments) {
            StreamStateHandle present = content.reusable().get(segment.name());
            if (present != null) {
                uploads.refer(segment.name(), present);
            } else {
                upload(segment, uploads);
            }
        }
        CheckpointManifest manifest =
                CheckpointManifest.of(content.states().keyGroups(), base, checkpoint.segments);
        StreamStateHandle meta = uploads.exclusive(out -> manifest.write(content.states(), out));
        uploads.finish();
        KeyedStateHandle remote =
                new IncrementalRemoteKeyedStateHandle(
                        backend,
                        content.states().keyGroups(),
                        checkpoint.id,
                        uploads.shared(),
                        List.of(),
                        meta,
                        uploads.bytes());
        KeyedStateHandle local =
                localCopies == null || base.names().anyMatch(this::isMissing)
                        ? null
                        : localCopies.copy(content, manifest, backend, uploads.shared());
        return local == null
                ? SnapshotResult.of(remote)
                : SnapshotResult.withLocalState(remote, local);
    }

    private StreamStateHandle reusable(IncrementalContent<K> content, String name) {
        StreamStateHandle handle = content.reusable().get(name);
        if (handle == null) {
            throw new IllegalStateException("no file " + name + " to refer to");
        }
        return handle;
    }

    private Base uploadBase(IncrementalContent<K> content, Uploads uploads) throws IOException {
        UUID id = UUID.randomUUID();
        try (BaseImage image = new BaseImage(content.states().store(), snapshots.directory())) {
            Base base = writeIndex(id, content, image, uploads);
            uploadSegments(content, image.get().files(), uploads);
            return base;
        }
    }

    private void uploadSegments(
            IncrementalContent<K> content, List<StoreImage.File> files, Uploads uploads)
            throws IOException {
        Map<String, StoreImage.File> missing = new LinkedHashMap<>();
        for (StoreImage.File file : files) {
            String name = Base.Segment.of(file).name();
            StreamStateHandle present = content.reusable().get(name);
            if (present != null) {
                uploads.refer(name, present);
            } else {
                missing.put(name, file);
            }
        }
        if (downloads != null) {
            // The one that was restored may be deleted as soon as this one is complete.
            downloads.awaitAllBut(uploads.names(), uploads::isCancelled);
        }
        uploads.share(missing, snapshots.transferThreads());
    }

    /** Whether a file of a restored base is not on this machine. */
    private boolean isMissing(String name) {
        return downloads != null && downloads.isMissing(name);
    }

    /** From then on the base may be referred to. */
    private Base writeIndex(
            UUID id, IncrementalContent<K> content, BaseImage image, Uploads uploads)
            throws IOException {
        String name = id + Base.INDEX_SUFFIX;
        try {
            uploads.share(name, localCopies == null ? image : out -> writeTwice(name, image, out));
            Base base = Base.of(id, image.get());
            List<String> reused = base.names().filter(content.reusable()::containsKey).toList();
            snapshots.based(content.checkpoint(), base, reused);
            if (localCopies != null) {
                localCopies.keepWritten(name);
                keepAllButMissing(image.get());
            }
            return base;
        } finally {
            if (localCopies != null) {
                localCopies.dropWritten(name); // unless it is kept
            }
        }
    }

    /** What is not here yet is kept when it is. */
    private void keepAllButMissing(StoreImage image) {
        for (StoreImage.File file : image.files()) {
            String name = Base.Segment.of(file).name();
            if (!isMissing(name)) {
                Objects.requireNonNull(localCopies).keep(name, file.path());
            }
        }
    }

    private void writeTwice(String name, BaseImage image, OutputStream out) throws IOException {
        try (OutputStream both = Objects.requireNonNull(localCopies).tee(name, out)) {
            image.writeTo(both);
        }
    }

    /** The image of a snapshot, from when its index is written until its files are uploaded. */
    private static final class BaseImage implements Uploads.Content, AutoCloseable {
        private final StoreSnapshot snapshot;
        private final Path directory;
        private @Nullable StoreImage image;

        BaseImage(StoreSnapshot snapshot, Path directory) {
            this.snapshot = snapshot;
            this.directory = directory;
        }

        @Override
        public void writeTo(OutputStream index) throws IOException {
            try {
                image = snapshot.image(index);
            } catch (IOException e) {
                throw new IOException(
                        ("cannot write a base to %s, or its index to checkpoint storage: %s; the next"
                                        + " checkpoint tries again (check free space of both)")
                                .formatted(directory, e.getMessage()),
                        e);
            }
        }

        StoreImage get() {
            return Objects.requireNonNull(image);
        }

        @Override
        public void close() {
            if (image != null) {
                image.close();
            }
        }
    }

    private static void upload(LogSegment segment, Uploads uploads) throws IOException {
        RedoSegment local = segment.local();
        if (local == null) {
            throw new IllegalStateException("no local file of " + segment.name());
        }
        try {
            local.written().toCompletableFuture().join();
        } catch (CompletionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new IOException(cause.getMessage(), cause);
        }
        uploads.share(segment.name(), local.path(), local.bytes());
    }
}
