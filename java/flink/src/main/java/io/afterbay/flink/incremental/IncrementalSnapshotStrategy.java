package io.afterbay.flink.incremental;

import java.io.IOException;
import java.util.List;
import java.util.UUID;
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
            snapshots.uploaded(content.checkpoint(), uploads.handles(), uploads.newBytes());
            uploaded = true;
            return result;
        } finally {
            if (!uploaded) {
                snapshots.failed(content.checkpoint(), uploads.takenOver());
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
            for (String name : base.names().toList()) {
                if (!refer(name, content, uploads)) {
                    uploadEmpty(name, uploads);
                }
            }
        }
        for (LogSegment segment : checkpoint.segments) {
            if (!refer(segment.name(), content, uploads)) {
                uploads.share(segment.name(), segment.content());
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
                        uploads.newBytes());
        KeyedStateHandle local =
                localCopies == null || base.names().anyMatch(this::isMissing)
                        ? null
                        : localCopies.copy(content, manifest, backend, uploads.shared());
        return local == null
                ? SnapshotResult.of(remote)
                : SnapshotResult.withLocalState(remote, local);
    }

    /** The base of a store that was empty is not in storage before the first checkpoint. */
    private void uploadEmpty(String name, Uploads uploads) throws IOException {
        byte[] index = snapshots.emptyIndex(name);
        if (index == null) {
            throw new IOException(
                    "%s is not in checkpoint storage any more; the next checkpoint goes on from another base"
                            .formatted(name));
        }
        uploads.share(name, out -> out.write(index));
    }

    private Base uploadBase(IncrementalContent<K> content, Uploads uploads) throws IOException {
        return snapshots
                .writer()
                .write(
                        content.states().store(),
                        content.reusable(),
                        downloads,
                        uploads,
                        (base, reused) -> snapshots.based(content.checkpoint(), base, reused));
    }

    /** Refers to a file that is in storage, or takes it over; false if it is not there. */
    private boolean refer(String name, IncrementalContent<K> content, Uploads uploads)
            throws IOException {
        StreamStateHandle reusable = content.reusable().get(name);
        if (reusable != null) {
            uploads.refer(name, reusable);
            return true;
        }
        StreamStateHandle early = snapshots.early().handOver(name, uploads::isCancelled);
        if (early != null) {
            uploads.takeOver(name, early);
        }
        return early != null;
    }

    /** Whether a file of a restored base is not on this machine. */
    private boolean isMissing(String name) {
        return downloads != null && downloads.isMissing(name);
    }
}
