package io.afterbay.flink.incremental;

import io.afterbay.flink.snapshot.SnapshotContent;
import io.afterbay.flink.state.StateContext;
import io.afterbay.store.StoreOptions;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.RelativeFileStateHandle;
import org.jspecify.annotations.Nullable;

/**
 * Decides what each incremental checkpoint of a backend consists of.
 *
 * <p>The newest checkpoint known to be complete is the <i>confirmed</i> one. A checkpoint has its
 * base and the log since; what the confirmed one has uploaded of that is referred to, the rest is
 * uploaded. If there is no such checkpoint, if the log has grown beyond a bound, or if a file can
 * neither be referred to nor uploaded again, the checkpoint begins a base of its own.
 *
 * <p>A file is referred to only if all checkpoints that are under way, and may become the confirmed
 * one meanwhile, refer to it too. Otherwise Flink would delete it as soon as one of them is
 * complete and the old one subsumed, while the new one still counts on it
 * (docs/flink-checkpoint-spi.md, 1.4 and 1.5).
 *
 * <p>{@link #uploaded} and {@link #failed} are called by the threads that upload, all else by the
 * task's.
 */
public final class IncrementalSnapshots<K> implements AutoCloseable {
    /** State of less is no reason to renew its base. */
    private static final long SMALL_BASE_BYTES = 4 << 20;

    /** Each is an entry in the meta data of every checkpoint, and in the JobManager's memory. */
    private static final int LOG_SEGMENTS_MAX = 128;

    private final StateContext<K> context;
    private final RedoChain chain;
    private final long redoLogBytesMax;
    private final int transferThreads;
    private final Path directory;
    private final CheckpointFigures figures;
    private final @Nullable LocalCopies localCopies;
    private final TreeMap<Long, CheckpointFiles> pending = new TreeMap<>();
    private @Nullable CheckpointFiles confirmed;

    /** Of the restored checkpoint; null if all of it was here at once. */
    private @Nullable LazyDownloads downloads;

    /**
     * @param redoLogBytesMax length of the log that begins a new base
     * @param transferThreads files of a base that are uploaded at a time
     * @param directory of the store
     */
    private IncrementalSnapshots(
            StateContext<K> context,
            RedoChain chain,
            long redoLogBytesMax,
            int transferThreads,
            Path directory,
            CheckpointFigures figures,
            @Nullable LocalCopies localCopies) {
        this.context = context;
        this.chain = chain;
        this.redoLogBytesMax = redoLogBytesMax;
        this.transferThreads = transferThreads;
        this.directory = directory;
        this.figures = figures;
        this.localCopies = localCopies;
    }

    /**
     * For a backend that was just opened.
     *
     * @param options of its store
     * @param redoLogBytesMax length of the log that begins a new base
     * @param transferThreads files of a base that are uploaded at a time
     * @param localCopies null for none
     * @param restored the checkpoint that the store has been opened from; null if there is none
     *     that others can build on
     */
    public static <K> IncrementalSnapshots<K> open(
            StateContext<K> context,
            StoreOptions options,
            long redoLogBytesMax,
            int transferThreads,
            CheckpointFigures figures,
            @Nullable LocalCopies localCopies,
            @Nullable RestoredCheckpoint restored) {
        Path directory = options.directory();
        RedoChain chain =
                new RedoChain(
                        context.store(),
                        options.files(),
                        directory.resolveSibling(directory.getFileName() + "_redo"),
                        options.background(),
                        redoLogBytesMax);
        IncrementalSnapshots<K> snapshots =
                new IncrementalSnapshots<>(
                        context,
                        chain,
                        redoLogBytesMax,
                        transferThreads,
                        directory,
                        figures,
                        localCopies);
        if (restored != null) {
            snapshots.resume(restored.files(), restored.downloads());
        }
        return snapshots;
    }

    int transferThreads() {
        return transferThreads;
    }

    /** Of the store, which writes the files of its images there. */
    Path directory() {
        return directory;
    }

    @Nullable LocalCopies localCopies() {
        return localCopies;
    }

    /** What arrives behind the store; null if nothing does. */
    synchronized @Nullable LazyDownloads downloads() {
        return downloads;
    }

    private synchronized void resume(CheckpointFiles restored, @Nullable LazyDownloads behind) {
        confirmed = restored;
        downloads = behind;
        chain.begin(restored.segments);
    }

    /**
     * The synchronous part of a checkpoint.
     *
     * @param isFull it may refer to no file of another checkpoint
     * @param storage of this checkpoint
     */
    synchronized IncrementalContent<K> begin(
            long checkpointId, boolean isFull, CheckpointStreamFactory storage) {
        context.gate().pass();
        chain.seal();
        Map<String, StreamStateHandle> reusable = isFull ? Map.of() : reusable(storage);
        IncrementalContent<K> content =
                isFull || !isIncrementPossible(reusable)
                        ? beginBase(checkpointId, reusable)
                        : beginIncrement(checkpointId, reusable);
        if (!content.states().isEmpty()) { // else there will be no checkpoint
            pending.put(checkpointId, content.checkpoint());
        }
        figures.logBytes(chain.bytesFrom(content.checkpoint().position));
        context.store().expectSnapshot(isBaseNext(content.checkpoint()));
        return content;
    }

    /** Whether the log will be too long if it grows as much again as since the last checkpoint. */
    private boolean isBaseNext(CheckpointFiles checkpoint) {
        Base base = checkpoint.base;
        long growth = chain.bytesFrom(Math.max(checkpoint.position, chain.end() - 1));
        return base != null && chain.bytesFrom(checkpoint.position) + growth > logBytesMax(base);
    }

    private Map<String, StreamStateHandle> reusable(CheckpointStreamFactory storage) {
        if (confirmed == null) {
            return Map.of();
        }
        Map<String, StreamStateHandle> reusable = new HashMap<>(confirmed.handles());
        reusable.keySet().removeIf(name -> !isReferredToByAllUnderWay(name));
        reusable.values().removeIf(handle -> !canRefer(handle, storage));
        return reusable;
    }

    private boolean isReferredToByAllUnderWay(String name) {
        return pending.values().stream().allMatch(checkpoint -> checkpoint.reused.contains(name));
    }

    /** Files with relative paths belong to the directory of one checkpoint. */
    private static boolean canRefer(StreamStateHandle handle, CheckpointStreamFactory storage) {
        return !(handle instanceof RelativeFileStateHandle)
                && storage.couldReuseStateHandle(handle);
    }

    private boolean isIncrementPossible(Map<String, StreamStateHandle> reusable) {
        CheckpointFiles last = confirmed;
        return last != null
                && last.base != null
                && chain.reachesBackTo(last.position)
                && !chain.isBroken()
                && !isLogTooLong(last)
                && last.baseNames().allMatch(reusable::containsKey)
                && chain.from(last.position).stream()
                        .allMatch(s -> s.isLocal() || reusable.containsKey(s.name()));
    }

    private boolean isLogTooLong(CheckpointFiles last) {
        return chain.bytesFrom(last.position) > logBytesMax(last.base)
                || chain.end() - last.position > LOG_SEGMENTS_MAX;
    }

    private long logBytesMax(@Nullable Base base) {
        long half = base == null ? 0 : base.bytes() / 2;
        return Math.min(redoLogBytesMax, Math.max(SMALL_BASE_BYTES, half));
    }

    private IncrementalContent<K> beginIncrement(
            long checkpointId, Map<String, StreamStateHandle> reusable) {
        CheckpointFiles last = confirmed;
        if (last == null) {
            throw new IllegalStateException("there is no confirmed checkpoint");
        }
        List<LogSegment> segments = chain.from(last.position);
        CheckpointFiles checkpoint =
                new CheckpointFiles(checkpointId, last.position, last.base, segments);
        last.baseNames().forEach(checkpoint.reused::add);
        segments.stream()
                .map(LogSegment::name)
                .filter(reusable::containsKey)
                .forEach(checkpoint.reused::add);
        return new IncrementalContent<>(
                checkpoint, SnapshotContent.withoutStore(context), reusable);
    }

    private IncrementalContent<K> beginBase(
            long checkpointId, Map<String, StreamStateHandle> reusable) {
        if (!chain.hasBegun() || chain.isBroken()) {
            chain.begin();
        }
        dropUnused();
        CheckpointFiles checkpoint =
                new CheckpointFiles(checkpointId, chain.end(), null, List.of());
        return new IncrementalContent<>(checkpoint, SnapshotContent.freeze(context), reusable);
    }

    /** The base of a checkpoint is written; these of its files are referred to. */
    synchronized void based(CheckpointFiles checkpoint, Base base, List<String> reused) {
        checkpoint.base = base;
        checkpoint.reused.addAll(reused);
        figures.baseWritten();
    }

    /** All files of a checkpoint are there. */
    synchronized void uploaded(
            CheckpointFiles checkpoint, Map<String, StreamStateHandle> handles, long newBytes) {
        checkpoint.handles = handles;
        figures.uploaded(newBytes);
    }

    /** A checkpoint will not be complete. */
    synchronized void failed(CheckpointFiles checkpoint) {
        pending.remove(checkpoint.id, checkpoint);
    }

    /**
     * Flink knows a checkpoint to be complete. Ids that are not ours, as those of savepoints, say
     * nothing.
     */
    public synchronized void completed(long checkpointId) {
        CheckpointFiles checkpoint = pending.get(checkpointId);
        if (checkpoint != null && checkpoint.isUploaded()) {
            confirmed = checkpoint;
            pending.headMap(checkpointId, true).clear();
            dropUnused();
        }
    }

    /** Files that it has uploaded are Flink's to delete, never ours. */
    public synchronized void aborted(long checkpointId) {
        if (pending.remove(checkpointId) != null) {
            dropUnused();
        }
    }

    private void dropUnused() {
        CheckpointFiles last = confirmed;
        boolean isOfUse = last != null && chain.reachesBackTo(last.position) && !isLogTooLong(last);
        long needed = last != null && isOfUse ? last.position : chain.end();
        for (CheckpointFiles checkpoint : pending.values()) {
            needed = Math.min(needed, checkpoint.position);
        }
        chain.dropBefore(needed);
        if (localCopies != null) {
            Stream<CheckpointFiles> used =
                    Stream.concat(Stream.ofNullable(last), pending.values().stream());
            localCopies.retain(used.flatMap(LocalCopies::needed).collect(Collectors.toSet()));
        }
    }

    @Override
    public synchronized void close() {
        chain.close();
        if (localCopies != null) {
            localCopies.close();
        }
    }
}
