package io.afterbay.flink.incremental;

import io.afterbay.flink.incremental.Renewals.Renewal;
import io.afterbay.flink.snapshot.SnapshotContent;
import io.afterbay.flink.state.StateContext;
import io.afterbay.maintenance.LongTasks;
import io.afterbay.store.StoreOptions;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
 * uploaded. When the log has grown beyond a bound, a new base is written behind the checkpoints
 * ({@link Renewals}), and the first checkpoint after that has it. If there is no confirmed
 * checkpoint, if a new base has not come in time, or if a file can neither be referred to nor
 * uploaded again, the checkpoint writes a base of its own.
 *
 * <p>Long segments of the log are uploaded as soon as they are full, so that a checkpoint has to
 * upload the rest only (as Samza's changelog is written all the time: Noghabi 2018, section 3.4).
 *
 * <p>A file is referred to only if all checkpoints that are under way, and may become the confirmed
 * one meanwhile, refer to it too. Otherwise Flink would delete it as soon as one of them is
 * complete and the old one subsumed, while the new one still counts on it
 * (docs/flink-checkpoint-spi.md, 1.4 and 1.5).
 *
 * <p>{@link #based}, {@link #uploaded} and {@link #failed} are called by the threads that upload,
 * all else by the task's.
 */
public final class IncrementalSnapshots<K> implements AutoCloseable {
    private final StateContext<K> context;
    private final RedoChain chain;
    private final LogLimits limits;
    private final BaseWriter writer;
    private final EarlyFiles early;
    private final Renewals renewals;
    private final CheckpointFigures figures;
    private final @Nullable LocalCopies localCopies;
    private final TreeMap<Long, CheckpointFiles> pending = new TreeMap<>();
    private @Nullable CheckpointFiles confirmed;

    /** Of use until there is a confirmed one; null if there was state from the beginning. */
    private @Nullable EmptyBase empty;

    /** Of the restored checkpoint; null if all of it was here at once. */
    private @Nullable LazyDownloads downloads;

    /** Of the last checkpoint, if more can be uploaded through it; for the task's thread. */
    private @Nullable CheckpointStreamFactory lastStorage;

    /** Where the log ended at the last checkpoint. */
    private long lastEnd;

    /**
     * Whether the store has prepared for one since the last checkpoint, so that it costs little.
     */
    private boolean isBaseExpected;

    private IncrementalSnapshots(
            StateContext<K> context,
            StoreOptions options,
            long redoLogBytes,
            BaseWriter writer,
            LongTasks tasks,
            CheckpointFigures figures,
            @Nullable LocalCopies localCopies) {
        this.context = context;
        this.limits = new LogLimits(redoLogBytes);
        this.writer = writer;
        this.early = new EarlyFiles(figures);
        this.renewals = new Renewals(tasks, writer, early, figures, this);
        this.figures = figures;
        this.localCopies = localCopies;
        Path directory = options.directory();
        this.chain =
                new RedoChain(
                        context.store(),
                        options.files(),
                        directory.resolveSibling(directory.getFileName() + "_redo"),
                        options.background(),
                        redoLogBytes,
                        this::uploadEarly);
    }

    /**
     * For a backend that was just opened.
     *
     * @param options of its store
     * @param redoLogBytes length of the log that makes a new base due
     * @param transferThreads files of a base that are uploaded at a time
     * @param tasks among which are bases that are written behind the checkpoints
     * @param localCopies null for none
     * @param restored the checkpoint that the store has been opened from; null if there is none
     *     that others can build on
     * @param isEmpty whether there is no state at all
     * @param isPeriodic whether checkpoints are to be expected: something is done ahead of the
     *     first
     */
    public static <K> IncrementalSnapshots<K> open(
            StateContext<K> context,
            StoreOptions options,
            long redoLogBytes,
            int transferThreads,
            LongTasks tasks,
            CheckpointFigures figures,
            @Nullable LocalCopies localCopies,
            @Nullable RestoredCheckpoint restored,
            boolean isEmpty,
            boolean isPeriodic) {
        IncrementalSnapshots<K> snapshots =
                new IncrementalSnapshots<>(
                        context,
                        options,
                        redoLogBytes,
                        new BaseWriter(options.directory(), transferThreads, localCopies),
                        tasks,
                        figures,
                        localCopies);
        if (restored != null) {
            snapshots.resume(restored.files(), restored.downloads());
        } else if (isPeriodic && isEmpty) {
            snapshots.beginEmpty();
        }
        if (isPeriodic && !isEmpty) {
            context.store().expectSnapshot(true); // the first may have a base of its own
        }
        return snapshots;
    }

    BaseWriter writer() {
        return writer;
    }

    /** What is in checkpoint storage before a checkpoint refers to it. */
    EarlyFiles early() {
        return early;
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
        lastEnd = chain.end();
    }

    private synchronized void beginEmpty() {
        empty = EmptyBase.of(context.store(), localCopies, chain.end());
        chain.begin();
    }

    /** What is to be uploaded under that name, if it is the index of the empty base; else null. */
    synchronized byte @Nullable [] emptyIndex(String name) {
        EmptyBase present = empty;
        return present != null && present.base().indexName().equals(name) ? present.index() : null;
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
        CheckpointFiles increment = isFull ? null : increment(checkpointId, reusable, storage);
        IncrementalContent<K> content =
                increment == null
                        ? beginBase(checkpointId, reusable)
                        : new IncrementalContent<>(
                                increment, SnapshotContent.withoutStore(context), reusable);
        if (!content.states().isEmpty()) { // else there will be no checkpoint
            pending.put(checkpointId, content.checkpoint());
        }
        if (increment != null) {
            renewIfDue(increment, reusable, storage);
        }
        figures.logBytes(chain.bytesFrom(content.checkpoint().position));
        figures.logStalls(chain.stalls());
        isBaseExpected = isBaseNext(content.checkpoint());
        context.store().expectSnapshot(isBaseExpected);
        lastStorage = Renewals.outliveTheirCheckpoint(storage) ? storage : null;
        lastEnd = chain.end();
        return content;
    }

    /** Whether a base will be begun, by the next checkpoint or behind it, if the log goes on so. */
    private boolean isBaseNext(CheckpointFiles checkpoint) {
        return chain.isSkipped()
                || (checkpoint.base != null
                        && !renewals.isSome()
                        && limits.isDueNext(chain, checkpoint, lastEnd));
    }

    /** Of a log that is being written; for the task's thread, without the lock. */
    private void uploadEarly(LogSegment segment) {
        CheckpointStreamFactory storage = lastStorage;
        if (storage != null) {
            early.begin(segment.name(), storage, segment.content());
        }
    }

    private Map<String, StreamStateHandle> reusable(CheckpointStreamFactory storage) {
        if (confirmed == null) {
            return Map.of();
        }
        Map<String, StreamStateHandle> reusable = new HashMap<>(confirmed.handles());
        if (!pending.isEmpty()) {
            reusable.keySet().removeIf(name -> !isReferredToByAllUnderWay(name));
        }
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

    /** A checkpoint that goes on from a base that there is; null if there is none to go on from. */
    private @Nullable CheckpointFiles increment(
            long id, Map<String, StreamStateHandle> reusable, CheckpointStreamFactory storage) {
        Renewal renewal = renewals.take();
        if (renewal != null && isThere(renewal, reusable)) {
            CheckpointFiles increment = increment(id, renewal.position, renewal.base(), reusable);
            increment.renewal = renewal;
            return increment;
        }
        CheckpointFiles last = confirmed;
        if (last == null) {
            return firstIncrement(id, reusable);
        }
        return isThere(last, reusable) && !isBaseNeeded(last, storage)
                ? increment(id, last.position, last.base, reusable)
                : null;
    }

    /** All changes of a store that was empty; null if it was not, or they are too many. */
    private @Nullable CheckpointFiles firstIncrement(
            long id, Map<String, StreamStateHandle> reusable) {
        EmptyBase none = empty;
        if (none == null || !leadsOn(none.position(), reusable)) {
            return null;
        }
        CheckpointFiles increment = increment(id, none.position(), none.base(), reusable);
        return limits.isOverdue(chain, increment) ? null : increment;
    }

    private boolean isThere(Renewal renewal, Map<String, StreamStateHandle> reusable) {
        Base base = renewal.base();
        return base != null
                && base.names().allMatch(name -> reusable.containsKey(name) || early.has(name))
                && leadsOn(renewal.position, reusable);
    }

    private boolean isThere(CheckpointFiles last, Map<String, StreamStateHandle> reusable) {
        return last.base != null
                && last.baseNames().allMatch(reusable::containsKey)
                && leadsOn(last.position, reusable);
    }

    /** Whether the log from there on leads to the present content. */
    private boolean leadsOn(long position, Map<String, StreamStateHandle> reusable) {
        return chain.reachesBackTo(position)
                && !chain.isBroken()
                && chain.from(position).stream()
                        .allMatch(s -> s.isLocal() || reusable.containsKey(s.name()));
    }

    /** Whether a checkpoint has to write the next base itself, and now. */
    private boolean isBaseNeeded(CheckpointFiles last, CheckpointStreamFactory storage) {
        return limits.isOverdue(chain, last)
                || (limits.isDue(chain, last)
                        && (renewals.haveFailed()
                                || (!Renewals.outliveTheirCheckpoint(storage) && canFreeze(last))));
    }

    /**
     * Whether the store is prepared, which takes it longer than from one checkpoint to the next if
     * these come often, or has no more time for it.
     */
    private boolean canFreeze(CheckpointFiles checkpoint) {
        return isBaseExpected
                && (context.store().isSnapshotPrepared() || limits.isUrgent(chain, checkpoint));
    }

    private CheckpointFiles increment(
            long id, long position, @Nullable Base base, Map<String, StreamStateHandle> reusable) {
        List<LogSegment> segments = chain.from(position);
        CheckpointFiles increment = new CheckpointFiles(id, position, base, segments);
        Stream.concat(increment.baseNames(), segments.stream().map(LogSegment::name))
                .filter(reusable::containsKey)
                .forEach(increment.reused::add);
        return increment;
    }

    /** Unless another base is under way already, in a checkpoint or behind them. */
    private void renewIfDue(
            CheckpointFiles increment,
            Map<String, StreamStateHandle> reusable,
            CheckpointStreamFactory storage) {
        Base present = increment.base;
        if (limits.isDue(chain, increment)
                && canFreeze(increment)
                && renewals.arePossible(storage)
                && !renewals.isSome()
                && pending.values().stream().allMatch(other -> other.base == present)
                && (downloads == null || downloads.missingBytes() == 0)) {
            renewals.begin(chain.end(), context.store()::snapshot, reusable, storage);
        }
    }

    private IncrementalContent<K> beginBase(
            long checkpointId, Map<String, StreamStateHandle> reusable) {
        if (!chain.hasBegun() || chain.isBroken()) {
            chain.begin();
        }
        if (renewals.superseded()) {
            dropUnused(); // some of the files have the names of files of this base
        }
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

    /**
     * A checkpoint will not be complete, and Flink has not heard of its files.
     *
     * @param takenOver those that it had from {@link #early}
     */
    synchronized void failed(CheckpointFiles checkpoint, Map<String, StreamStateHandle> takenOver) {
        early.add(takenOver);
        putBackRenewal(checkpoint);
        pending.remove(checkpoint.id, checkpoint);
    }

    /**
     * Another checkpoint can have it, unless Flink may have deleted files of it, or it comes back
     * too late: the log begins anew since, or a newer base is confirmed.
     */
    private void putBackRenewal(CheckpointFiles checkpoint) {
        Renewals.Renewal renewal = checkpoint.renewal;
        CheckpointFiles last = confirmed;
        if (renewal != null
                && !checkpoint.isUploaded()
                && chain.reachesBackTo(renewal.position)
                && (last == null || renewal.position > last.position)) {
            renewals.putBack(renewal);
        }
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
        CheckpointFiles checkpoint = pending.remove(checkpointId);
        if (checkpoint != null) {
            putBackRenewal(checkpoint);
        }
        dropUnused(); // also of one that has failed here
    }

    private void dropUnused() {
        CheckpointFiles last = confirmed;
        boolean isOfUse =
                last != null
                        && chain.reachesBackTo(last.position)
                        && !limits.isOverdue(chain, last);
        long needed = last != null && isOfUse ? last.position : chain.end();
        for (CheckpointFiles checkpoint : pending.values()) {
            needed = Math.min(needed, checkpoint.position);
        }
        needed = Math.min(needed, renewals.positionOr(needed));
        EmptyBase none = last == null ? empty : null;
        if (none != null && chain.reachesBackTo(none.position())) {
            needed = Math.min(needed, none.position());
        }
        chain.dropBefore(needed);
        Set<String> names =
                Stream.concat(Stream.ofNullable(last), pending.values().stream())
                        .flatMap(LocalCopies::needed)
                        .collect(Collectors.toSet());
        renewals.names().forEach(names::add);
        if (none != null) {
            none.base().names().forEach(names::add);
        }
        if (localCopies != null) {
            localCopies.retain(names);
        }
        chain.from(needed).stream().map(LogSegment::name).forEach(names::add);
        early.retain(names);
    }

    @Override
    public synchronized void close() {
        renewals.close();
        early.close();
        chain.close();
        if (localCopies != null) {
            localCopies.close();
        }
    }
}
