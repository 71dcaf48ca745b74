package io.afterbay.store;

import io.afterbay.store.redo.RedoSink;
import java.util.BitSet;
import java.util.Map;

/**
 * The keyed state of one operator instance.
 *
 * <p>A store holds named states of four shapes, one per access pattern (FlowKV, section 3, and
 * Samza's local stores), plus trigger schedules:
 *
 * <pre>
 *   shape             read                                   method
 *   read-modify-write at every event                         {@link #values}
 *   append, aligned   all keys of a window together          {@link #lists} with {@link ReadAlignment#ALIGNED}
 *   append, unaligned each key at its own time               {@link #lists} with {@link ReadAlignment#UNALIGNED}
 *   map               by user key, and all entries of a key  {@link #maps}
 *   trigger schedule  in order of (timestamp, key group)     {@link #triggers}
 * </pre>
 *
 * <p><b>Threads.</b> One thread at a time, the owner, calls everything here. A {@link
 * StoreSnapshot} is read by any one other thread at the same time. File work happens in the
 * background.
 *
 * <p><b>Errors.</b> A failed read or write of a local file throws {@link StateStoreException},
 * which names the file and the offset; after it the store refuses all further work, so that nothing
 * wrong is ever read. {@link #close} always works.
 */
public interface StateStore extends AutoCloseable {

    /** Opens or returns the state of that name. A name has one shape for the life of the store. */
    ValueStore values(String name);

    /** As {@link #values}; the alignment is a hint: a wrong one costs speed, never correctness. */
    ListStore lists(String name, ReadAlignment alignment);

    /** As {@link #values}. */
    MapStore maps(String name);

    /** As {@link #values}. */
    TriggerSchedule triggers(String name);

    /** Forgets a state with all that it holds; unknown names are ignored. */
    void drop(String name);

    /**
     * Ends the use of what reads have handed out: {@link ListReader}s got before are invalid after.
     * An owner calls it when it moves to another key.
     */
    void releaseReaders();

    /** Whether {@link ListStore#readAhead} may be of use now. */
    default boolean readsAhead() {
        return false;
    }

    /**
     * Freezes the present content. Costs a bounded time that does not depend on the amount of
     * state. Close the snapshot: while it is open, what it needs is kept.
     */
    StoreSnapshot snapshot();

    /**
     * From now on gives every change to the sink, until {@link #endRedo}. A snapshot taken just
     * before and all that the sink has got up to a {@link #flushRedo} make up the content at that
     * moment. A sink that there was gets the changes until now: the new log goes on where the old
     * one ends.
     */
    void startRedo(RedoSink sink);

    /**
     * The changes from now on are those of a redo log that leads to this store's content to be.
     * They are kept in memory as far as there is room, without a look at what the store has, and
     * written to its pages in the course of the operations after {@link #endReplay}. There must be
     * no others until then.
     *
     * @param bytes about the length of the log
     */
    void beginReplay(long bytes);

    /**
     * To be called between the changes of a replay, now and then: gives memory back that has become
     * more than this store's share, because others have joined meanwhile.
     */
    void continueReplay();

    /** All of the log was applied. */
    void endReplay();

    /**
     * As {@link #startRedo}, directly behind the opening of an image, or behind {@link #endReplay}:
     * the new log goes on where the replayed one ends.
     */
    void resumeRedo(RedoSink sink);

    /**
     * Gives the sink all changes that have not reached it yet. Costs a bounded time, some
     * milliseconds.
     */
    void flushRedo();

    /**
     * Whether a snapshot will be taken soon. If so, from now on each operation does a little of
     * what it would have to do, so that it takes some milliseconds instead of some tens; changes
     * that come again and again cost more meanwhile. A hint: nothing has to follow. A {@link
     * RedoSink} may give it while it takes a chunk.
     */
    void expectSnapshot(boolean expected);

    /** Whether a snapshot takes some milliseconds only, since it was expected long enough. */
    boolean isSnapshotPrepared();

    /**
     * Which parts of its files a store reads that was just opened from an image, if only entries of
     * these key groups are asked for: by the number of a file, chunks of {@link
     * io.afterbay.store.io.ArrivingFile#CHUNK_BYTES}. A hint: it may read others, too.
     */
    default Map<Integer, BitSet> chunksOf(int firstKeyGroup, int lastKeyGroup) {
        return Map.of();
    }

    /** Ends the redo log; what was not flushed is forgotten. Idempotent. */
    void endRedo();

    StoreStats stats();

    /**
     * Whether a local file could not be read or written, or memory ran out in mid-operation, so
     * that all else throws.
     */
    boolean hasFailed();

    /**
     * Waits for open snapshots' running reads, frees all memory, deletes all local files.
     * Idempotent.
     */
    @Override
    void close();
}
