package io.afterbay.flink;

import io.afterbay.store.StateStore;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.LocalFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Executor;
import org.apache.flink.runtime.memory.OpaqueMemoryResource;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.util.IOUtils;

/** What a keyed backend holds and gives back when it is disposed of: store, memory, threads. */
final class BackendResources implements AutoCloseable {
    private final OpaqueMemoryResource<SlotMemory> memory;
    private final BackgroundWork.Lease background;
    private final StoreOptions options;
    private final StateStore store;
    private boolean closed;

    private BackendResources(
            OpaqueMemoryResource<SlotMemory> memory,
            BackgroundWork.Lease background,
            StoreOptions options,
            StateStore store) {
        this.memory = memory;
        this.background = background;
        this.options = options;
        this.store = store;
    }

    /** Opens a store, empty or not. */
    @FunctionalInterface
    interface Opener {
        StateStore open(StoreOptions options) throws IOException;
    }

    /** Takes over the memory, also if this fails. */
    static BackendResources open(
            String name,
            Path directory,
            KeyGroupRange keyGroups,
            AfterbaySettings settings,
            Opener opener,
            Executor owner,
            OpaqueMemoryResource<SlotMemory> memory)
            throws IOException {
        BackgroundWork.Lease background = BackgroundWork.acquire(settings.backgroundThreads());
        try {
            StoreOptions options =
                    new StoreOptions(
                            name,
                            directory,
                            LocalFiles.system(),
                            memory.getResourceHandle().budget(),
                            background.executor(),
                            owner,
                            keyGroups.getStartKeyGroup(),
                            keyGroups.getEndKeyGroup(),
                            settings.maxSpaceAmplification());
            return new BackendResources(memory, background, options, opener.open(options));
        } catch (IOException | RuntimeException | Error e) {
            background.close();
            IOUtils.closeQuietly(memory);
            throw e;
        }
    }

    StateStore store() {
        return store;
    }

    /** With which the store was opened. */
    StoreOptions options() {
        return options;
    }

    /** Waits for running reads of snapshots. Idempotent. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            store.close();
        } finally {
            background.close();
            IOUtils.closeQuietly(memory);
        }
    }
}
