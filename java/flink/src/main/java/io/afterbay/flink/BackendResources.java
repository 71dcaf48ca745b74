package io.afterbay.flink;

import io.afterbay.maintenance.Kind;
import io.afterbay.maintenance.MaintenanceInstance;
import io.afterbay.maintenance.ProcessMaintenance;
import io.afterbay.store.StateStore;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreOwner;
import io.afterbay.store.io.LocalFiles;
import java.io.IOException;
import org.apache.flink.runtime.memory.OpaqueMemoryResource;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.util.IOUtils;

/** What a keyed backend holds and gives back when it is disposed of: store, memory, threads. */
final class BackendResources implements AutoCloseable {
    private final OpaqueMemoryResource<SlotMemory> memory;
    private final LocalDirectory directory;
    private final MaintenanceInstance maintenance;
    private final StoreOptions options;
    private final Opener opener;
    private final StateStore store;
    private boolean closed;

    private BackendResources(
            OpaqueMemoryResource<SlotMemory> memory,
            LocalDirectory directory,
            MaintenanceInstance maintenance,
            StoreOptions options,
            Opener opener,
            StateStore store) {
        this.memory = memory;
        this.directory = directory;
        this.maintenance = maintenance;
        this.options = options;
        this.opener = opener;
        this.store = store;
    }

    /** Opens a store, empty or not. */
    interface Opener {
        StateStore open(StoreOptions options) throws IOException;

        /** The store has failed, and is closed next. */
        void failed();
    }

    /** Takes over directory and memory, also if this fails. */
    static BackendResources open(
            String name,
            LocalFiles files,
            LocalDirectory directory,
            KeyGroupRange keyGroups,
            AfterbaySettings settings,
            Opener opener,
            StoreOwner owner,
            OpaqueMemoryResource<SlotMemory> memory)
            throws IOException {
        MaintenanceInstance maintenance = null;
        try {
            maintenance = ProcessMaintenance.register(name, settings.maintenance());
            StoreOptions options =
                    new StoreOptions(
                            name,
                            directory.path(),
                            files,
                            memory.getResourceHandle().budget(),
                            maintenance.executor(Kind.FLUSH),
                            maintenance.executor(Kind.COMPACTION),
                            owner,
                            keyGroups.getStartKeyGroup(),
                            keyGroups.getEndKeyGroup(),
                            settings.maxSpaceAmplification(),
                            settings.compression(),
                            ReadThreads.of(settings.readThreads()),
                            settings.tuning());
            return new BackendResources(
                    memory, directory, maintenance, options, opener, opener.open(options));
        } catch (IOException | RuntimeException | Error e) {
            IOUtils.closeQuietly(maintenance);
            IOUtils.closeQuietly(memory);
            directory.close();
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

    /** The background work of the store, among that of all others in this process. */
    MaintenanceInstance maintenance() {
        return maintenance;
    }

    /** Waits for running reads of snapshots. Idempotent. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            if (store.hasFailed()) {
                opener.failed();
            }
            store.close();
        } finally {
            maintenance.close();
            IOUtils.closeQuietly(memory);
            directory.close();
        }
    }
}
