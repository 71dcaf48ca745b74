package io.afterbay.flink;

import io.afterbay.maintenance.MaintenanceInstance;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.jspecify.annotations.Nullable;

/**
 * A checkpoint that the background work of the process knows of, from its synchronous part to the
 * end of its asynchronous one: meanwhile no compaction begins.
 */
final class AnnouncedCheckpoint implements RunnableFuture<SnapshotResult<KeyedStateHandle>> {
    private final RunnableFuture<SnapshotResult<KeyedStateHandle>> checkpoint;
    private final MaintenanceInstance maintenance;
    private final AtomicBoolean ended = new AtomicBoolean();

    /** The synchronous part; returns the asynchronous one. */
    interface Synchronous {
        RunnableFuture<SnapshotResult<KeyedStateHandle>> run() throws Exception;
    }

    private AnnouncedCheckpoint(
            RunnableFuture<SnapshotResult<KeyedStateHandle>> checkpoint,
            MaintenanceInstance maintenance) {
        this.checkpoint = checkpoint;
        this.maintenance = maintenance;
    }

    static RunnableFuture<SnapshotResult<KeyedStateHandle>> begin(
            MaintenanceInstance maintenance, Synchronous part) throws Exception {
        maintenance.checkpointBegan();
        boolean begun = false;
        try {
            AnnouncedCheckpoint checkpoint = new AnnouncedCheckpoint(part.run(), maintenance);
            begun = true;
            return checkpoint.endedIfDone();
        } finally {
            if (!begun) {
                maintenance.checkpointEnded();
            }
        }
    }

    private AnnouncedCheckpoint endedIfDone() {
        if (checkpoint.isDone() && ended.compareAndSet(false, true)) {
            maintenance.checkpointEnded();
        }
        return this;
    }

    @Override
    public void run() {
        try {
            checkpoint.run();
        } finally {
            endedIfDone();
        }
    }

    @Override
    public boolean cancel(boolean mayInterrupt) {
        boolean cancelled = checkpoint.cancel(mayInterrupt);
        endedIfDone();
        return cancelled;
    }

    @Override
    public boolean isCancelled() {
        return checkpoint.isCancelled();
    }

    @Override
    public boolean isDone() {
        return checkpoint.isDone();
    }

    @Override
    public @Nullable SnapshotResult<KeyedStateHandle> get()
            throws InterruptedException, ExecutionException {
        return checkpoint.get();
    }

    @Override
    public @Nullable SnapshotResult<KeyedStateHandle> get(long timeout, TimeUnit unit)
            throws InterruptedException, ExecutionException, TimeoutException {
        return checkpoint.get(timeout, unit);
    }
}
