package io.afterbay.flink.incremental;

import io.afterbay.store.StateStore;
import io.afterbay.store.StateStoreException;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.store.redo.RedoFiles;
import io.afterbay.store.redo.RedoSegment;
import io.afterbay.store.redo.RedoSink;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The changes of a store as sealed segments, one behind the other. Places between segments are
 * positions: a base of position <i>p</i> and the segments from <i>p</i> on make up the content.
 * Segments of which no base needs any are dropped.
 *
 * <p>Used by the owner of the store.
 */
final class RedoChain implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RedoChain.class);

    /** After so many logs in a row that were given up, the next one would be too. */
    private static final int GIVEN_UP_MAX = 2;

    /** Segments into which the most that is written between two checkpoints is cut. */
    private static final int PIECES = 16;

    private final StateStore store;
    private final LocalFiles files;
    private final Deletions deletions;
    private final Path directory;
    private final Executor background;
    private final long segmentBytesMax;
    private final Consumer<LogSegment> early;
    private final List<LogSegment> segments = new ArrayList<>();

    /** The present one, and those that are still written. */
    private final List<RedoFiles> logs = new ArrayList<>();

    /** Of logs that are not among them any more. */
    private long stallsBefore;

    private long first;
    private long start;
    private @Nullable RedoFiles log;
    private long openBytes;
    private int givenUp;

    /** Whether changes are only counted until the next log begins. */
    private boolean isSkipped;

    /** Of the segment that is being written. */
    private long pieceBytes;

    /**
     * Writes nothing until {@link #begin}.
     *
     * @param directory of its own, for local files; created when needed, deleted when closed
     * @param segmentBytesMax about so much is written between two checkpoints; if there is more, or
     *     no checkpoint at all, the log is given up; if that happens again and again, nothing is
     *     written until there is less
     * @param early hears of segments that end between two checkpoints, since there is enough in
     *     them to be uploaded meanwhile
     */
    RedoChain(
            StateStore store,
            LocalFiles files,
            Path directory,
            Executor background,
            long segmentBytesMax,
            Consumer<LogSegment> early) {
        this.store = store;
        this.files = files;
        this.deletions = new Deletions(files);
        this.directory = directory;
        this.background = background;
        this.segmentBytesMax = segmentBytesMax;
        this.early = early;
    }

    boolean hasBegun() {
        return log != null;
    }

    /**
     * Begins a log behind the present content, which is that of a restored base and these segments.
     */
    void begin(List<LogSegment> restored) {
        segments.addAll(restored);
        store.resumeRedo(open());
    }

    /**
     * Begins a log behind the present content. What was written before leads nowhere from now on,
     * but stays until it is dropped: checkpoints that are under way have it.
     */
    void begin() {
        if (log != null) {
            segments.add(LogSegment.GAP); // so that no position before is one behind
            start = end();
        }
        givenUp = isTooLong() ? givenUp + 1 : 0;
        isSkipped = givenUp >= GIVEN_UP_MAX;
        store.startRedo(open());
    }

    private RedoSink open() {
        try {
            files.createDirectories(directory);
        } catch (IOException e) {
            throw new StateStoreException(
                    "cannot write the redo log of incremental checkpoints: " + e.getMessage(), e);
        }
        logs.removeIf(this::forgetIfWritten);
        RedoFiles next = new RedoFiles(files, directory, background);
        log = next;
        logs.add(next);
        openBytes = 0;
        pieceBytes = 0;
        return (bytes, length) -> take(next, bytes, length);
    }

    /** Else they would add up, if each is given up. Its sealed segments stay until dropped. */
    private boolean forgetIfWritten(RedoFiles before) {
        boolean isWritten = before.isWritten();
        if (isWritten) {
            before.close();
            stallsBefore += before.stalls();
        }
        return isWritten;
    }

    private void take(RedoFiles to, byte[] bytes, int length) {
        boolean wasGivenUp = isGivenUp();
        openBytes += length;
        if (!isGivenUp()) {
            to.chunk(bytes, length);
            pieceBytes += length;
            if (pieceBytes > segmentBytesMax / PIECES) {
                seal(to, early);
            }
        } else if (!wasGivenUp) {
            store.expectSnapshot(true); // for the base that the next checkpoint has to write
        }
    }

    private void seal(RedoFiles file, Consumer<LogSegment> listener) {
        RedoSegment sealed = file.seal();
        if (sealed != null) {
            LogSegment segment = LogSegment.of(sealed);
            segments.add(segment);
            listener.accept(segment);
        }
        pieceBytes = 0;
    }

    private boolean isGivenUp() {
        return isSkipped || isTooLong();
    }

    private boolean isTooLong() {
        return openBytes > segmentBytesMax;
    }

    /** Ends the present segment behind all changes so far. */
    void seal() {
        RedoFiles current = log;
        if (current != null) {
            store.flushRedo();
            seal(current, ofCheckpoint -> {});
            if (!isGivenUp()) {
                openBytes = 0;
                givenUp = 0;
            }
        }
    }

    /** Whether a segment could not be written, or was given up: the log has to begin anew. */
    boolean isBroken() {
        long present = Math.max(first, start);
        return isGivenUp() || from(present).stream().anyMatch(LogSegment::hasFailed);
    }

    /** Whether nothing is written until there is less, so that the next checkpoint has a base. */
    boolean isSkipped() {
        return isSkipped;
    }

    /** Behind the last segment. */
    long end() {
        return first + segments.size();
    }

    /** Whether the segments from there on lead to the present content. */
    boolean reachesBackTo(long position) {
        return position >= first && position >= start;
    }

    /** Times the owner waited for the disk, since the first log began. */
    long stalls() {
        return stallsBefore + logs.stream().mapToLong(RedoFiles::stalls).sum();
    }

    /** How many there are: the present one, and those that are still written. */
    int logs() {
        return logs.size();
    }

    List<LogSegment> from(long position) {
        return List.copyOf(segments.subList((int) (position - first), segments.size()));
    }

    long bytesFrom(long position) {
        return from(position).stream().mapToLong(LogSegment::bytes).sum();
    }

    /** Forgets segments, and deletes their local files. */
    void dropBefore(long position) {
        while (first < position && !segments.isEmpty()) {
            delete(segments.remove(0));
            first++;
        }
    }

    private void delete(LogSegment segment) {
        RedoSegment local = segment.local();
        if (local != null) {
            local.written().whenComplete((done, failure) -> deletions.begin(local.path()));
        }
    }

    @Override
    public void close() {
        if (log == null) {
            return;
        }
        log = null;
        store.endRedo();
        logs.forEach(RedoFiles::close);
        dropBefore(end());
        deletions.await();
        try {
            files.deleteDirectory(directory);
        } catch (IOException e) {
            LOG.warn("Cannot delete the directory of a redo log: {}", e.getMessage());
        }
    }
}
