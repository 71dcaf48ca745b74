package io.afterbay.flink.incremental;

import io.afterbay.maintenance.LongTasks;
import io.afterbay.store.StoreSnapshot;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FsCheckpointStreamFactory;
import org.apache.flink.runtime.state.filesystem.FsMergingCheckpointStorageLocation;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * New bases that are written while checkpoints go on as increments of the old one. The first
 * checkpoint to begin when one is there goes on from it; until then its files are {@link
 * EarlyFiles}.
 *
 * <p>At most one is there or under way. If one fails, the next base is written by a checkpoint,
 * which can say why if it fails too.
 *
 * <p>Called by the task's thread, but for what is one of the {@link LongTasks}.
 */
final class Renewals implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Renewals.class);

    private final LongTasks tasks;
    private final BaseWriter writer;
    private final EarlyFiles early;
    private final CheckpointFigures figures;

    /** Guards all that follows, and what {@link IncrementalSnapshots} guards. */
    private final Object lock;

    private @Nullable Renewal current;
    private boolean hasFailed;
    private boolean isClosed;

    /** What is known of a renewal. */
    enum Stage {
        UNDER_WAY,
        CANCELLED,
        WRITTEN
    }

    /** A base on its way. */
    static final class Renewal {
        /** Where the log goes on behind it. */
        final long position;

        private final CloseableRegistry cancel = new CloseableRegistry();
        private Stage stage = Stage.UNDER_WAY;
        private @Nullable Base base;

        private Renewal(long position) {
            this.position = position;
        }

        /** Null until its index is written. */
        @Nullable Base base() {
            return base;
        }
    }

    Renewals(
            LongTasks tasks,
            BaseWriter writer,
            EarlyFiles early,
            CheckpointFigures figures,
            Object lock) {
        this.tasks = tasks;
        this.writer = writer;
        this.early = early;
        this.figures = figures;
        this.lock = lock;
    }

    /**
     * Whether files that are uploaded through the storage of a checkpoint are there when that
     * checkpoint is not. With file merging they go with it.
     */
    static boolean outliveTheirCheckpoint(CheckpointStreamFactory storage) {
        return storage instanceof FsCheckpointStreamFactory
                && !(storage instanceof FsMergingCheckpointStorageLocation);
    }

    /** Whether a base should be left to a renewal. */
    boolean arePossible(CheckpointStreamFactory storage) {
        return !hasFailed && outliveTheirCheckpoint(storage);
    }

    /**
     * Whether the last one has failed: a checkpoint that writes the base says why, if it does too.
     */
    boolean haveFailed() {
        return hasFailed;
    }

    /** Whether one is under way, or there. */
    boolean isSome() {
        return current != null;
    }

    /**
     * Begins one, unless too many of this process are under way.
     *
     * @param position where the log goes on behind the present content
     * @param freeze freezes it
     * @param reusable files of the confirmed checkpoint that may be referred to, by name
     */
    void begin(
            long position,
            Supplier<StoreSnapshot> freeze,
            Map<String, StreamStateHandle> reusable,
            CheckpointStreamFactory storage) {
        if (!tasks.tryEnter()) {
            return;
        }
        StoreSnapshot frozen = null;
        boolean begun = false;
        try {
            frozen = freeze.get();
            begin(new Renewal(position), frozen, reusable, storage);
            begun = true;
        } finally {
            if (!begun) {
                current = null;
                IOUtils.closeQuietly(frozen);
                tasks.leave();
            }
        }
    }

    private void begin(
            Renewal renewal,
            StoreSnapshot frozen,
            Map<String, StreamStateHandle> reusable,
            CheckpointStreamFactory storage) {
        current = renewal;
        tasks.run(() -> write(renewal, frozen, reusable, storage));
    }

    private void write(
            Renewal renewal,
            StoreSnapshot frozen,
            Map<String, StreamStateHandle> reusable,
            CheckpointStreamFactory storage) {
        Uploads uploads = new Uploads(storage, renewal.cancel);
        boolean written = false;
        try (frozen) {
            writer.write(frozen, reusable, null, uploads, (base, reused) -> indexed(renewal, base));
            written = written(renewal, uploads, reusable);
        } catch (IOException | RuntimeException | Error e) {
            failed(renewal, e);
        } finally {
            if (!written) {
                uploads.discard();
                ended(renewal);
            }
        }
    }

    private void indexed(Renewal renewal, Base base) {
        synchronized (lock) {
            renewal.base = base;
        }
    }

    /** False if nobody wants it any more. */
    private boolean written(
            Renewal renewal, Uploads uploads, Map<String, StreamStateHandle> reusable) {
        Map<String, StreamStateHandle> own = new HashMap<>(uploads.handles());
        own.keySet().removeAll(reusable.keySet());
        synchronized (lock) {
            if (renewal.stage == Stage.CANCELLED) {
                return false;
            }
            early.add(own);
            renewal.stage = Stage.WRITTEN;
            figures.baseWritten();
            return true;
        }
    }

    private void failed(Renewal renewal, Throwable cause) {
        synchronized (lock) {
            if (renewal.stage != Stage.CANCELLED) {
                hasFailed = true;
                LOG.warn(
                        "A new base could not be written behind the checkpoints; one of the next"
                                + " checkpoints will write it: {}",
                        cause.getMessage(),
                        cause);
            }
        }
    }

    private void ended(Renewal renewal) {
        synchronized (lock) {
            if (current == renewal) {
                current = null;
            }
        }
    }

    /** Takes the one that is there; null if there is none. */
    @Nullable Renewal take() {
        Renewal renewal = current;
        if (renewal == null || renewal.stage != Stage.WRITTEN) {
            return null;
        }
        current = null;
        return renewal;
    }

    /** The checkpoint that took one has failed, and nobody has heard of it. */
    void putBack(Renewal renewal) {
        if (current == null && !isClosed) {
            current = renewal;
        }
    }

    /**
     * A checkpoint writes a base: there is no use in another one. True if one was there, so that
     * its files are of no use now.
     */
    boolean superseded() {
        hasFailed = false;
        boolean wasThere = current != null && current.stage == Stage.WRITTEN;
        cancel();
        return wasThere;
    }

    private void cancel() {
        Renewal renewal = current;
        if (renewal == null) {
            return;
        }
        if (renewal.stage == Stage.UNDER_WAY) {
            renewal.stage = Stage.CANCELLED;
            // Flink's streams cannot be closed while they wait for their storage.
            BackgroundThreads.runUnawaited(() -> IOUtils.closeQuietly(renewal.cancel));
        } else if (renewal.stage == Stage.WRITTEN) {
            current = null;
        }
    }

    /** Where the log has to begin for the one that is there or under way. */
    long positionOr(long none) {
        return current == null ? none : current.position;
    }

    /** Names of the files of the one that is there or under way. */
    Stream<String> names() {
        Base base = current == null ? null : current.base;
        return base == null ? Stream.empty() : base.names();
    }

    /**
     * Ends the one that is under way, and waits for nothing: a checkpoint storage that does not
     * answer must not keep a task from ending. The store waits for who reads from it.
     */
    @Override
    public void close() {
        synchronized (lock) {
            isClosed = true;
            cancel();
        }
    }
}
