package io.afterbay.flink;

import io.afterbay.flink.incremental.LocalCopies;
import io.afterbay.flink.incremental.RestoredCheckpoint;
import io.afterbay.flink.snapshot.StateRestore;
import io.afterbay.flink.state.StoreFactory;
import io.afterbay.store.StateStore;
import io.afterbay.store.StoreOptions;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.jspecify.annotations.Nullable;

/**
 * What a backend is restored from. One incremental checkpoint of the same key groups is opened as
 * it is; from others, what belongs to the backend is copied; everything else is read entry by
 * entry.
 */
final class RestoreSource {
    private final List<RestoredCheckpoint> incremental = new ArrayList<>();
    private final List<KeyedStateHandle> others = new ArrayList<>();
    private final KeyGroupRange keyGroups;
    private final StoreFactory stores;
    private final int transferThreads;
    private final boolean isLazy;

    /**
     * Reads the manifests.
     *
     * @param handles as Flink gives them: there may be nulls
     * @param transferThreads files that are downloaded at a time
     * @param isLazy whether that may go on behind the restore
     */
    RestoreSource(
            Collection<KeyedStateHandle> handles,
            KeyGroupRange keyGroups,
            StoreFactory stores,
            int transferThreads,
            boolean isLazy,
            CloseableRegistry cancel)
            throws IOException {
        this.keyGroups = keyGroups;
        this.stores = stores;
        this.transferThreads = transferThreads;
        this.isLazy = isLazy;
        for (KeyedStateHandle handle : handles) {
            if (handle != null) {
                add(handle, RestoredCheckpoint.read(handle, cancel));
            }
        }
    }

    private void add(KeyedStateHandle handle, @Nullable RestoredCheckpoint checkpoint) {
        if (checkpoint != null) {
            incremental.add(checkpoint);
        } else {
            others.add(handle);
        }
    }

    /** Whether there is nothing to restore. */
    boolean isEmpty() {
        return incremental.isEmpty() && others.isEmpty();
    }

    /** The checkpoint that is opened as it is; null if there is none. */
    @Nullable RestoredCheckpoint same() {
        boolean isOne = others.isEmpty() && incremental.size() == 1;
        return isOne && incremental.get(0).keyGroups().equals(keyGroups)
                ? incremental.get(0)
                : null;
    }

    /**
     * Opens the store of the backend.
     *
     * @param copies keep what is restored; null for none
     */
    StateStore open(StoreOptions options, @Nullable LocalCopies copies) throws IOException {
        RestoredCheckpoint same = same();
        return same == null
                ? stores.open(options)
                : same.open(stores, options, copies, transferThreads, isLazy);
    }

    /**
     * Restores the content.
     *
     * @param options with which the store was opened
     * @param copies as in {@link #open}
     */
    void restore(
            StateRestore<?> restore,
            StateStore store,
            StoreOptions options,
            @Nullable LocalCopies copies)
            throws Exception {
        RestoredCheckpoint same = same();
        if (same != null) {
            same.restoreStates(restore);
            same.replay(store, copies);
            return;
        }
        for (int i = 0; i < incremental.size(); i++) {
            RestoredCheckpoint checkpoint = incremental.get(i);
            checkpoint.copy(
                    restore,
                    stores,
                    forCopy(options, checkpoint.keyGroups(), i),
                    keyGroups,
                    transferThreads,
                    isLazy);
        }
        restore.restore(others);
    }

    /**
     * The restore is done; what goes on behind it is cancelled with the registry of the backend.
     */
    void handOver(CloseableRegistry backend) throws IOException {
        for (RestoredCheckpoint checkpoint : incremental) {
            checkpoint.handOver(backend);
        }
    }

    /** Before the store is closed, if the restore has failed. */
    void cancel() {
        incremental.forEach(RestoredCheckpoint::cancelDownloads);
    }

    /** What has to come from storage yet. */
    long missingBytes() {
        RestoredCheckpoint same = same();
        return same == null ? 0 : same.missingBytes();
    }

    /** The store has failed: what it was restored from here may be damaged. */
    void distrust() {
        incremental.forEach(RestoredCheckpoint::distrust);
    }

    private static StoreOptions forCopy(StoreOptions options, KeyGroupRange range, int number) {
        String name = "restore-" + number;
        return new StoreOptions(
                options.name() + " (" + name + ")",
                options.directory().resolveSibling(options.directory().getFileName() + "_" + name),
                options.files(),
                options.budget(),
                options.background(),
                options.compaction(),
                options.owner(),
                range.getStartKeyGroup(),
                range.getEndKeyGroup(),
                options.maxSpaceAmplification(),
                options.compression(),
                options.reads(),
                options.tuning());
    }
}
