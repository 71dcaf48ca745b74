package io.afterbay.store.redo;

import io.afterbay.store.StateStoreException;
import io.afterbay.store.io.DiskAdvice;
import io.afterbay.store.io.LocalFile;
import io.afterbay.store.io.LocalFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Writes a redo log to local segment files, in the background. The owner of the store calls {@link
 * #chunk}, {@link #seal} and {@link #close}.
 *
 * <p>What waits to be written is bounded: beyond that the owner writes itself, or waits for the
 * thread that does. It never waits for the executor.
 *
 * <p><b>Failure.</b> The log is a copy of what the store has, so a file that cannot be written
 * fails no operation of the store: the segment's {@link RedoSegment#written} says so, as do those
 * of all later segments, and the log has to be started anew behind a new snapshot.
 */
public final class RedoFiles implements RedoSink, AutoCloseable {
    /** Chunks that wait; more than a checkpoint has to hand over at once. */
    private static final int WAITING_MAX = 128;

    /** And bytes of them: a change of more than a chunk is a chunk of its own. */
    private static final long WAITING_BYTES_MAX = 8 << 20;

    private static final byte[] END = {};

    private final LocalFiles files;
    private final Path directory;
    private final Executor background;
    private final UUID log = UUID.randomUUID();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final ArrayDeque<Block> waiting = new ArrayDeque<>();
    private long waitingBytes;
    private @Nullable Segment open;
    private long segments;
    private boolean isDrainScheduled;
    private boolean isWriting;
    private boolean isClosed;
    private @Nullable StateStoreException failure;
    private long stalls;

    /** A block of a segment; the end of it if empty. */
    private record Block(Segment segment, int number, long offset, byte[] payload) {}

    /** Where blocks go; the file is used by whoever is writing. */
    private static final class Segment {
        final long number;
        final Path path;
        final byte[] header;
        final CompletableFuture<Void> written = new CompletableFuture<>();
        @Nullable LocalFile file;
        int blocks;
        long bytes = RedoFormat.HEADER_BYTES;

        Segment(long number, Path path, byte[] header) {
            this.number = number;
            this.path = path;
            this.header = header;
        }
    }

    /**
     * @param directory where files go; it must exist, and is not deleted
     * @param background at least one thread must make progress
     */
    public RedoFiles(LocalFiles files, Path directory, Executor background) {
        this.files = files;
        this.directory = directory;
        this.background = background;
    }

    /** Times the owner could not hand a chunk over at once. */
    public long stalls() {
        return stalls;
    }

    @Override
    public void chunk(byte[] bytes, int length) {
        lock.lock();
        try {
            awaitRoom();
            if (failure == null && !isClosed) { // it may have failed meanwhile
                add(Arrays.copyOf(bytes, length));
            }
        } finally {
            lock.unlock();
        }
    }

    private void awaitRoom() {
        if (isFull()) {
            stalls++;
        }
        while (isFull()) {
            writeNextInTurn();
        }
    }

    private boolean isFull() {
        return waiting.size() >= WAITING_MAX || waitingBytes >= WAITING_BYTES_MAX;
    }

    private void add(byte[] payload) {
        Segment segment = open;
        if (segment == null) {
            long number = ++segments;
            segment = new Segment(number, path(number), RedoFormat.header(log, number));
            open = segment;
        }
        waiting.add(new Block(segment, segment.blocks++, segment.bytes, payload));
        segment.bytes += RedoFormat.BLOCK_HEADER_BYTES + payload.length;
        waitingBytes += payload.length;
        if (!isDrainScheduled) {
            schedule();
        }
    }

    private Path path(long number) {
        return directory.resolve("%s-%08d.redo".formatted(log, number));
    }

    private void schedule() {
        isDrainScheduled = true; // before the submission: the executor may drain at once
        try {
            background.execute(this::drain);
        } catch (RejectedExecutionException e) {
            drain();
        }
    }

    /**
     * Ends the segment that is being written; the next chunk begins another one. Nothing if there
     * was no chunk since the last segment.
     */
    public @Nullable RedoSegment seal() {
        lock.lock();
        try {
            StateStoreException before = failure;
            if (before != null) {
                return failed(before);
            }
            if (open == null) {
                return null;
            }
            Segment sealed = open;
            add(END);
            open = null;
            return new RedoSegment(log, sealed.number, sealed.path, sealed.bytes, sealed.written);
        } finally {
            lock.unlock();
        }
    }

    private RedoSegment failed(StateStoreException before) {
        long number = ++segments;
        return new RedoSegment(
                log, number, path(number), 0, CompletableFuture.failedFuture(before));
    }

    /** Whether nothing waits to be written, so that {@link #close} waits for nothing. */
    public boolean isWritten() {
        lock.lock();
        try {
            return waiting.isEmpty() && !isWriting;
        } finally {
            lock.unlock();
        }
    }

    private void drain() {
        lock.lock();
        try {
            while (!waiting.isEmpty()) {
                writeNextInTurn();
            }
            isDrainScheduled = false;
        } finally {
            lock.unlock();
        }
    }

    /** Lock held, and let go of meanwhile. */
    private void writeNextInTurn() {
        if (isWriting) {
            changed.awaitUninterruptibly();
        } else {
            writeNext();
        }
    }

    private void writeNext() {
        Block block = waiting.remove();
        waitingBytes -= block.payload.length;
        isWriting = true;
        lock.unlock();
        try {
            write(block);
        } catch (IOException | RuntimeException | Error e) { // else its segment is never written
            fail(block, e);
        } finally {
            lock.lock();
            isWriting = false;
            changed.signalAll();
        }
    }

    private void write(Block block) throws IOException {
        Segment segment = block.segment;
        LocalFile file = segment.file;
        if (file == null) {
            file = files.create(segment.path);
            segment.file = file;
            writeFully(file, ByteBuffer.wrap(segment.header), 0);
        }
        int length = block.payload.length;
        ByteBuffer header = ByteBuffer.allocate(RedoFormat.BLOCK_HEADER_BYTES);
        header.putInt(length);
        header.putInt(
                RedoFormat.blockChecksum(segment.header, block.number, block.payload, length));
        writeFully(file, header.flip(), block.offset);
        writeFully(
                file, ByteBuffer.wrap(block.payload), block.offset + RedoFormat.BLOCK_HEADER_BYTES);
        if (length == 0) {
            file.close();
            segment.written.complete(null);
        }
    }

    private static void writeFully(LocalFile file, ByteBuffer source, long offset)
            throws IOException {
        long at = offset;
        while (source.hasRemaining()) {
            at += file.write(source, at);
        }
    }

    private void fail(Block block, Throwable cause) {
        StateStoreException error =
                new StateStoreException(
                        ("%s: cannot write at byte %d: %s; no incremental checkpoint until the log"
                                        + " begins anew %s")
                                .formatted(
                                        block.segment.path,
                                        block.offset,
                                        cause.getMessage(),
                                        DiskAdvice.of(block.segment.path)),
                        cause);
        discard(block.segment, error);
        lock.lock();
        try {
            failure = error;
            discardWaiting(error);
        } finally {
            lock.unlock();
        }
    }

    private void discardWaiting(StateStoreException why) {
        waiting.forEach(block -> discard(block.segment, why));
        clearWaiting();
    }

    private void clearWaiting() {
        waiting.clear();
        waitingBytes = 0;
    }

    /** Nobody will read it: what goes wrong here is left to the deletion of the directory. */
    private void discard(Segment segment, StateStoreException why) {
        try {
            LocalFile file = segment.file;
            segment.file = null;
            if (file != null) {
                file.close();
                files.delete(segment.path);
            }
        } catch (IOException e) {
            why.addSuppressed(e);
        }
        segment.written.completeExceptionally(why);
    }

    /**
     * Waits for a write that is under way. Segments whose end is written stay, and belong to
     * whoever got them; the others are discarded. Idempotent.
     */
    @Override
    public void close() {
        lock.lock();
        try {
            isClosed = true;
            StateStoreException closed = new StateStoreException("the redo log was closed");
            List<Block> lost = List.copyOf(waiting);
            clearWaiting();
            while (isWriting) {
                changed.awaitUninterruptibly();
            }
            lost.forEach(block -> discard(block.segment, closed));
            if (open != null) {
                discard(open, closed);
                open = null;
            }
        } finally {
            lock.unlock();
        }
    }
}
