package io.afterbay.store.page;

import io.afterbay.store.StateStoreException;
import io.afterbay.store.io.LocalFile;
import io.afterbay.store.io.LocalFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The append-only files behind evicted pages. Blocks are collected in write buffers, one per
 * stream, and written by background tasks; a block that is not written yet is read from its buffer.
 * Segments whose blocks are all outdated are deleted, without having been written if they die
 * early.
 *
 * <p><b>Locking.</b> Everything but file access is guarded by {@link #lock}, which the page store
 * shares. Methods say if the caller holds it. No thread ever waits for the executor: who runs out
 * of write buffers writes one itself.
 *
 * <p><b>Failure.</b> The first failed file operation is kept, and thrown by every later call.
 */
final class SegmentLog {
    /** Where a block goes: pages of a kind live and die together. */
    static final int TREE_STREAM = 0;

    static final int CHAIN_STREAM = 1;
    static final int RELOCATED_STREAM = 2;
    private static final int STREAMS = 3;
    static final int BUFFERS = STREAMS + 2;

    private static final ThreadLocal<Staging> STAGING =
            ThreadLocal.withInitial(() -> new Staging(Staging.BYTES));
    private static final ThreadLocal<Staging> VISITING =
            ThreadLocal.withInitial(() -> new Staging(Staging.BYTES));

    final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final LocalFiles files;
    private final Path directory;
    private final Executor background;
    private final long segmentBytes;

    private final Map<Integer, Segment> segments = new HashMap<>();
    private final @Nullable WriteBuffer[] filling = new WriteBuffer[STREAMS];
    private final @Nullable Segment[] openSegments = new Segment[STREAMS];
    private final ArrayDeque<WriteBuffer> free = new ArrayDeque<>();
    private final ArrayDeque<WriteBuffer> full = new ArrayDeque<>();

    /** Out of use, but the background has not deleted their files yet, or could not. */
    private final List<Segment> undeleted = new ArrayList<>();

    private int bufferBytes;
    private int nextSegment = 1;
    private int tasks;
    private boolean drainScheduled;
    private boolean closed;
    private volatile @Nullable StateStoreException failure;

    private long liveBytes;
    private long totalBytes;

    /** Garbage in pinned segments. */
    private long heldGarbageBytes;

    long writtenBytes;
    long readBytes;
    long stalls;
    long stallNanos;

    SegmentLog(LocalFiles files, Path directory, Executor background, long segmentBytes) {
        this.files = files;
        this.directory = directory;
        this.background = background;
        this.segmentBytes = segmentBytes;
    }

    /**
     * Allocates the write buffers: {@link #BUFFERS} of that size. Once, before the first append.
     */
    void allocateBuffers(int bytes) {
        bufferBytes = bytes;
        Segment none = new Segment(0, directory);
        for (int i = 0; i < BUFFERS; i++) {
            free.add(new WriteBuffer(bytes, none));
        }
    }

    /** Throws if a file operation has failed before. */
    void check() {
        StateStoreException first = failure;
        if (first != null) {
            throw new StateStoreException(String.valueOf(first.getMessage()), first);
        }
    }

    /**
     * Appends an image of a page and returns its location. Lock held; may let go of it meanwhile.
     */
    long append(int stream, int pageId, long page, int pageBytes) {
        int bytes = Block.bytes(pageBytes);
        WriteBuffer buffer = bufferFor(stream, bytes);
        long offset = buffer.offset + buffer.used;
        Block.write(buffer.address + buffer.used, pageId, page, pageBytes);
        buffer.used += bytes;
        buffer.segment.end += bytes;
        buffer.segment.liveBytes += bytes;
        liveBytes += bytes;
        totalBytes += bytes;
        return Location.of(buffer.segment.id, offset, PageSize.classOf(pageBytes));
    }

    private WriteBuffer bufferFor(int stream, int bytes) {
        for (; ; ) {
            check();
            WriteBuffer buffer = filling[stream];
            if (buffer != null && buffer.fits(bytes)) {
                return buffer;
            }
            if (buffer != null) {
                handOver(stream, buffer);
            } else if (!free.isEmpty()) {
                filling[stream] = begin(stream, free.remove());
            } else {
                makeBufferFree();
            }
        }
    }

    /** A stream goes on in its segment until that is full. */
    private WriteBuffer begin(int stream, WriteBuffer buffer) {
        Segment segment = openSegments[stream];
        if (segment == null) {
            segment = newSegment();
            openSegments[stream] = segment;
        }
        buffer.segment = segment;
        buffer.offset = segment.end;
        buffer.used = 0;
        segment.unflushed.add(buffer);
        return buffer;
    }

    /** A segment to which no stream writes yet. Lock held. */
    Segment newSegment() {
        Segment segment = new Segment(nextSegment, directory.resolve(fileName(nextSegment)));
        nextSegment++;
        segments.put(segment.id, segment);
        totalBytes += Segment.HEADER_BYTES;
        return segment;
    }

    /** Takes over a segment that another store has written. Lock held. */
    void adopt(int id, LocalFile file, long bytes, long live) throws IOException {
        Segment segment = new Segment(id, directory.resolve(fileName(id)));
        segment.file = file;
        segment.end = bytes;
        segment.liveBytes = live;
        segment.sealed = true;
        segments.put(id, segment);
        totalBytes += bytes;
        liveBytes += live;
        nextSegment = Math.max(nextSegment, id + 1);
        verifyHeader(segment);
    }

    private static void verifyHeader(Segment segment) throws IOException {
        Staging staging = STAGING.get();
        readStaged(segment, 0, Segment.HEADER_BYTES, staging);
        if (staging.getInt(0) != (int) Segment.MAGIC
                || staging.getInt(4) != (int) (Segment.MAGIC >>> 32)
                || staging.getInt(8) != Segment.VERSION
                || staging.getInt(12) != segment.id
                || staging.getInt(16) != staging.checksum(0, 16)) {
            throw new IOException(
                    segment.path.getFileName()
                            + ": it does not begin as segment "
                            + segment.id
                            + ", version "
                            + Segment.VERSION);
        }
    }

    static String fileName(int segment) {
        return String.format("%08d.log", segment);
    }

    private void handOver(int stream, WriteBuffer buffer) {
        filling[stream] = null;
        if (buffer.segment.end >= segmentBytes) {
            buffer.segment.sealed = true;
            openSegments[stream] = null;
        }
        full.add(buffer);
        if (!drainScheduled) {
            drainScheduled = true; // before the submission: the executor may drain at once
            drainScheduled = submit(this::drain) && drainScheduled;
        }
    }

    private boolean submit(Runnable task) {
        return submit(task, background);
    }

    /**
     * Has a task run, unless the log is closed before; false if the executor takes no more. Closing
     * waits only for tasks that have begun: an executor that is shut down forgets the others.
     */
    boolean submit(Runnable task, Executor executor) {
        try {
            executor.execute(() -> runIfOpen(task));
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    private void runIfOpen(Runnable task) {
        if (!beginTask()) {
            return;
        }
        try {
            task.run();
        } finally {
            ended();
        }
    }

    private boolean beginTask() {
        lock.lock();
        try {
            if (!closed) {
                tasks++;
            }
            return !closed;
        } finally {
            lock.unlock();
        }
    }

    private void ended() {
        lock.lock();
        try {
            tasks--;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void makeBufferFree() {
        long start = System.nanoTime();
        WriteBuffer buffer = full.poll();
        if (buffer != null) {
            flush(buffer);
        } else {
            changed.awaitUninterruptibly();
        }
        stalls++;
        stallNanos += System.nanoTime() - start;
    }

    private void drain() {
        lock.lock();
        try {
            WriteBuffer buffer;
            while ((buffer = full.poll()) != null) {
                flush(buffer);
            }
            drainScheduled = false;
        } finally {
            lock.unlock();
        }
    }

    /** Writes a buffer and frees it. Lock held, and let go of during the write. */
    private void flush(WriteBuffer buffer) {
        Segment segment = buffer.segment;
        boolean needed = !segment.isGarbage() && failure == null && !closed;
        if (needed) {
            lock.unlock();
            try {
                write(segment, buffer);
            } catch (IOException | RuntimeException | Error e) { // else the buffer is lost
                fail(segment.path, "cannot write", buffer.offset, e);
            } finally {
                lock.lock();
            }
            writtenBytes += buffer.used;
        }
        segment.unflushed.remove(buffer);
        free.add(buffer);
        deleteIfGarbage(segment);
        changed.signalAll();
    }

    /** Writes a buffer to its place. Lock not held. */
    void write(Segment segment, WriteBuffer buffer) throws IOException {
        LocalFile file = open(segment);
        Staging staging = STAGING.get();
        int staged = 0;
        long position = buffer.offset;
        for (int at = 0; at < buffer.used; ) {
            int payload = Block.payloadBytes(buffer.address + at);
            int bytes = Block.bytes(payload);
            if (staged + bytes > Staging.BYTES) {
                position = writeStaged(file, staging, staged, position);
                staged = 0;
            }
            staging.copyIn(buffer.address + at, staged, bytes);
            Block.seal(staging, staged, payload);
            staged += bytes;
            at += bytes;
        }
        writeStaged(file, staging, staged, position);
    }

    private static long writeStaged(LocalFile file, Staging staging, int bytes, long position)
            throws IOException {
        ByteBuffer source = staging.buffer;
        source.position(0).limit(bytes);
        long at = position;
        while (source.hasRemaining()) {
            at += file.write(source, at);
        }
        source.clear();
        return at;
    }

    private LocalFile open(Segment segment) throws IOException {
        synchronized (segment) {
            LocalFile file = segment.file;
            if (file == null) {
                file = files.create(segment.path);
                segment.file = file;
                writeHeader(segment, file);
            }
            return file;
        }
    }

    private static void writeHeader(Segment segment, LocalFile file) throws IOException {
        Staging staging = STAGING.get();
        ByteBuffer header = staging.buffer;
        header.clear().limit(Segment.HEADER_BYTES);
        for (int i = 0; i < Segment.HEADER_BYTES; i += 4) {
            staging.putInt(i, 0);
        }
        staging.putInt(0, (int) Segment.MAGIC);
        staging.putInt(4, (int) (Segment.MAGIC >>> 32));
        staging.putInt(8, Segment.VERSION);
        staging.putInt(12, segment.id);
        staging.putInt(16, staging.checksum(0, 16));
        writeStaged(file, staging, Segment.HEADER_BYTES, 0);
    }

    private StateStoreException fail(Path path, String what, long offset, Throwable cause) {
        StateStoreException error =
                new StateStoreException(
                        path
                                + ": "
                                + what
                                + " at byte "
                                + offset
                                + ": "
                                + cause.getMessage()
                                + "; the task must restore from its last checkpoint"
                                + " (check free space, health and permissions of this disk)",
                        cause);
        return fail(error);
    }

    /** Keeps the first failure: every later call throws it. */
    StateStoreException fail(StateStoreException error) {
        lock.lock();
        try {
            if (failure == null) {
                failure = error;
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        return error;
    }

    /** The block at a location is no longer the newest image of its page. Lock held. */
    void release(long location) {
        Segment segment = segment(location);
        int bytes = Block.bytes(PageSize.bytes(Location.sizeClass(location)));
        segment.liveBytes -= bytes;
        liveBytes -= bytes;
        heldGarbageBytes += segment.pins > 0 ? bytes : 0;
        deleteIfGarbage(segment);
    }

    /** A segment that is written to beside the streams has become longer. Lock held. */
    void grown(Segment segment, int bytes) {
        segment.end += bytes;
        totalBytes += bytes;
        heldGarbageBytes += segment.pins > 0 ? bytes : 0;
    }

    /** Keeps the file of a location until {@link #unpin}. Lock held. */
    void pin(long location) {
        pinSegment(segment(location));
    }

    /** Lock held. */
    void pinSegment(Segment segment) {
        if (segment.pins++ == 0) {
            heldGarbageBytes += segment.garbageBytes();
        }
    }

    /** Lock held. */
    void unpin(long location) {
        unpinSegment(segment(location));
    }

    /** Lock held. */
    void unpinSegment(Segment segment) {
        if (--segment.pins == 0) {
            heldGarbageBytes -= segment.garbageBytes();
        }
        deleteIfGarbage(segment);
    }

    /** Waits for something to change, at most that long. Lock held. */
    void awaitChange(long nanos) {
        try {
            changed.awaitNanos(nanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StateStoreException("interrupted while waiting for memory", e);
        }
    }

    /** Lock held. */
    Segment segment(long location) {
        Segment segment = segments.get(Location.segment(location));
        if (segment == null) {
            throw new StateStoreException(
                    "segment "
                            + fileName(Location.segment(location))
                            + " is gone though a page lies in it");
        }
        return segment;
    }

    private void deleteIfGarbage(Segment segment) {
        if (segment.isGarbage()
                && segment.unflushed.isEmpty()
                && segments.remove(segment.id) != null) {
            totalBytes -= segment.end;
            if (segment.file != null) {
                undeleted.add(segment);
                if (!submit(() -> deleteUndeleted(segment))) {
                    deleteUndeleted(segment);
                }
            }
        }
    }

    private void deleteUndeleted(Segment segment) {
        lock.lock();
        boolean mine = undeleted.remove(segment);
        lock.unlock();
        if (mine) {
            delete(segment);
        }
    }

    private void delete(Segment segment) {
        try {
            LocalFile file = segment.file;
            if (file != null) {
                file.close();
                files.delete(segment.path);
            }
        } catch (IOException e) {
            fail(segment.path, "cannot delete; asked", segment.end, e);
            keepForClose(segment);
        }
    }

    private void keepForClose(Segment segment) {
        lock.lock();
        try {
            undeleted.add(segment);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Reads the page image at a location into memory and verifies it. The caller has pinned the
     * location, and does not hold the lock.
     */
    void read(long location, int pageId, long target) {
        int pageBytes = PageSize.bytes(Location.sizeClass(location));
        Segment segment;
        lock.lock();
        try {
            check();
            segment = segment(location);
            WriteBuffer buffer = segment.unflushedAt(Location.offset(location));
            if (buffer != null) {
                long at = buffer.address + (Location.offset(location) - buffer.offset);
                Memory.copy(at + Block.HEADER_BYTES, target, pageBytes);
                return;
            }
            readBytes += Block.bytes(pageBytes);
        } finally {
            lock.unlock();
        }
        readFile(segment, Location.offset(location), pageId, pageBytes, target);
    }

    private void readFile(Segment segment, long offset, int pageId, int pageBytes, long target) {
        Staging staging = STAGING.get();
        try {
            readStaged(segment, offset, Block.bytes(pageBytes), staging);
            verify(staging, 0, pageId, pageBytes);
        } catch (IOException e) {
            throw fail(segment.path, "cannot read", offset, e);
        }
        staging.copyOut(Block.HEADER_BYTES, target, pageBytes);
    }

    private static void readStaged(Segment segment, long offset, int bytes, Staging staging)
            throws IOException {
        LocalFile file = segment.file;
        if (file == null) {
            throw new IOException("the file was never created");
        }
        ByteBuffer target = staging.buffer;
        target.position(0).limit(bytes);
        while (target.hasRemaining()) {
            int read = file.read(target, offset + target.position());
            if (read < 0) {
                throw new IOException(
                        "the file ends after " + target.position() + " of " + bytes + " bytes");
            }
        }
        target.clear();
    }

    private static void verify(Staging staging, int position, int pageId, int pageBytes)
            throws IOException {
        if (Block.payloadBytes(staging, position) != pageBytes
                || !Block.isIntact(staging, position, pageBytes)) {
            throw new IOException("checksum mismatch, the block is damaged");
        }
        if (Block.pageId(staging, position) != pageId) {
            throw new IOException(
                    "page "
                            + Block.pageId(staging, position)
                            + " where page "
                            + pageId
                            + " belongs");
        }
    }

    /** What compaction does with each block of a segment. Called without the lock. */
    interface BlockVisitor {
        void block(int pageId, long location, long page, int pageBytes);
    }

    /** Reads a segment from front to back. The caller has pinned it, and does not hold the lock. */
    void visit(Segment segment, BlockVisitor visitor) {
        Staging staging = VISITING.get(); // what the visitor appends passes through the other one
        long offset = Segment.HEADER_BYTES;
        try {
            while (offset < segment.end) {
                int bytes = (int) Math.min(Staging.BYTES, segment.end - offset);
                readStaged(segment, offset, bytes, staging);
                int visited = visitStaged(segment, offset, bytes, staging, visitor);
                if (visited == 0) {
                    throw new IOException("a block reaches beyond the end, the block is damaged");
                }
                offset += visited;
            }
        } catch (IOException e) {
            throw fail(segment.path, "cannot read", offset, e);
        }
    }

    private static int visitStaged(
            Segment segment, long offset, int bytes, Staging staging, BlockVisitor visitor)
            throws IOException {
        int at = 0;
        while (at + Block.HEADER_BYTES <= bytes) {
            int pageBytes = Block.payloadBytes(staging, at);
            if (pageBytes < PageSize.SMALLEST_BYTES || pageBytes > PageSize.LARGEST_BYTES) {
                throw new IOException("a block of " + pageBytes + " bytes, the block is damaged");
            }
            if (at + Block.bytes(pageBytes) > bytes) {
                break;
            }
            int pageId = Block.pageId(staging, at);
            verify(staging, at, pageId, pageBytes);
            long location = Location.of(segment.id, offset + at, PageSize.classOf(pageBytes));
            visitor.block(pageId, location, staging.address(at + Block.HEADER_BYTES), pageBytes);
            at += Block.bytes(pageBytes);
        }
        return at;
    }

    /** Lock held. */
    Collection<Segment> segments() {
        return segments.values();
    }

    long liveBytes() {
        return liveBytes;
    }

    long totalBytes() {
        return totalBytes;
    }

    /** Bytes that compaction could free: outdated, and in segments that nobody needs otherwise. */
    long reclaimableBytes() {
        return totalBytes - liveBytes - heldGarbageBytes;
    }

    int bufferBytes() {
        return bufferBytes;
    }

    boolean hasFailed() {
        return failure != null;
    }

    boolean isFailedOrClosed() {
        return hasFailed() || closed;
    }

    /**
     * Waits for background tasks, closes and deletes all files, frees the buffers. Lock not held.
     */
    void close() {
        lock.lock();
        try {
            closed = true;
            while (tasks > 0) {
                changed.awaitUninterruptibly();
            }
            deleteAll();
            freeBuffers();
        } finally {
            lock.unlock();
        }
    }

    /** Everything once, and once more what could not be deleted. */
    private void deleteAll() {
        segments.values().forEach(segment -> segment.unflushed.clear());
        undeleted.addAll(segments.values());
        segments.clear();
        deleteAllUndeleted();
        deleteAllUndeleted();
    }

    private void deleteAllUndeleted() {
        List<Segment> tried = List.copyOf(undeleted);
        undeleted.clear();
        tried.forEach(this::delete);
    }

    private void freeBuffers() {
        free.addAll(full);
        full.clear();
        for (int i = 0; i < STREAMS; i++) {
            WriteBuffer buffer = filling[i];
            if (buffer != null) {
                free.add(buffer);
                filling[i] = null;
            }
        }
        free.forEach(buffer -> Memory.free(buffer.address, buffer.capacity));
        free.clear();
    }
}
