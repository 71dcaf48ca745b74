package io.afterbay.store.page;

import io.afterbay.store.StateStoreException;
import io.afterbay.store.io.DiskAdvice;
import io.afterbay.store.io.LocalFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
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

    /** A segment of less than this part of its usual size is short. */
    private static final int SHORT_PARTS = 4;

    final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final SegmentFiles files;
    final BackgroundTasks tasks;
    final long segmentBytes;
    final boolean compression;

    private final Map<Integer, Segment> segments = new HashMap<>();
    private final @Nullable WriteBuffer[] filling = new WriteBuffer[STREAMS];
    private final @Nullable Segment[] openSegments = new Segment[STREAMS];
    private final ArrayDeque<WriteBuffer> free = new ArrayDeque<>();
    private final ArrayDeque<WriteBuffer> full = new ArrayDeque<>();

    private final DeadSegments dead;
    private final Arrivals arrivals;

    private int bufferBytes;
    private int nextSegment = 1;
    private boolean drainScheduled;
    private volatile @Nullable StateStoreException failure;

    private long liveBytes;
    private long totalBytes;

    /** Sealed segments that are {@link #isShort}. */
    private int shortSegments;

    /** Garbage in held segments. */
    private long heldGarbageBytes;

    long writtenBytes;

    /** Written by images. */
    long copiedBytes;

    /** Of these, those of copies that became places of pages. */
    long settledBytes;

    long readBytes;
    long stalls;
    long stallNanos;

    SegmentLog(SegmentFiles files, Executor background, long segmentBytes, boolean compression) {
        this.files = files;
        tasks = new BackgroundTasks(lock, changed, background);
        dead = new DeadSegments(this, files);
        arrivals = new Arrivals(this, files);
        this.segmentBytes = segmentBytes;
        this.compression = compression;
    }

    /**
     * Allocates the write buffers: {@link #BUFFERS} of that size. Once, before the first append.
     */
    void allocateBuffers(int bytes) {
        bufferBytes = bytes;
        Segment none = new Segment(0, Path.of(""));
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
        PageCodec codec = PageCodec.get();
        codec.encode(page, pageBytes, compression);
        WriteBuffer buffer = bufferFor(stream, codec.blockBytes());
        codec.write(buffer.end(), pageId);
        return appended(buffer, pageBytes, codec.roomBytes());
    }

    /** Appends a copy of a block. As {@link #append(int, int, long, int)}. */
    long append(int stream, long block) {
        int bytes = Block.bytes(block);
        WriteBuffer buffer = bufferFor(stream, bytes);
        Memory.copy(block, buffer.end(), bytes);
        return appended(buffer, Block.pageBytes(block), bytes - Block.HEADER_BYTES);
    }

    private long appended(WriteBuffer buffer, int pageBytes, int room) {
        long offset = buffer.offset + buffer.used;
        int bytes = Block.HEADER_BYTES + room;
        buffer.used += bytes;
        buffer.segment.end += bytes;
        buffer.segment.liveBytes += bytes;
        liveBytes += bytes;
        totalBytes += bytes;
        return Location.of(buffer.segment.id, offset, pageBytes, room);
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
        Segment segment = new Segment(nextSegment, files.path(nextSegment));
        nextSegment++;
        segments.put(segment.id, segment);
        totalBytes += Segment.HEADER_BYTES;
        return segment;
    }

    /** Takes over a segment that another store has written. Lock held. */
    void adopt(int id, LocalFile file, long bytes, long live) throws IOException {
        Segment segment = new Segment(id, files.path(id));
        segment.file = file;
        segment.end = bytes;
        segment.liveBytes = live;
        seal(segment);
        segments.put(id, segment);
        totalBytes += bytes;
        liveBytes += live;
        nextSegment = Math.max(nextSegment, id + 1);
        if (file.arrival().isDone()) {
            files.verifyHeader(segment);
        } else {
            segment.isAway = true;
            heldGarbageBytes += segment.garbageBytes();
            arrivals.expect(segment, file);
        }
    }

    /** Whether files of the image that was opened are still on their way. */
    boolean isArriving() {
        return arrivals.exist();
    }

    private void handOver(int stream, WriteBuffer buffer) {
        filling[stream] = null;
        if (buffer.segment.end >= segmentBytes) {
            seal(buffer.segment);
            openSegments[stream] = null;
        }
        full.add(buffer);
        if (!drainScheduled) {
            drainScheduled = true; // before the submission: the executor may drain at once
            drainScheduled = tasks.submit(this::drain) && drainScheduled;
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
        boolean needed = !segment.isGarbage() && !isFailedOrClosed();
        if (needed) {
            lock.unlock();
            try {
                files.write(segment, buffer);
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

    StateStoreException fail(Path path, String what, long offset, Throwable cause) {
        StateStoreException error =
                new StateStoreException(
                        path
                                + ": "
                                + what
                                + " at byte "
                                + offset
                                + ": "
                                + cause.getMessage()
                                + "; the task must restore from its last checkpoint "
                                + DiskAdvice.of(path),
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
        int bytes = Location.blockBytes(location);
        segment.liveBytes -= bytes;
        liveBytes -= bytes;
        heldGarbageBytes += segment.isHeld() ? bytes : 0;
        deleteIfGarbage(segment);
    }

    /** A segment that is written to beside the streams has become longer. Lock held. */
    void grown(Segment segment, int bytes) {
        segment.end += bytes;
        totalBytes += bytes;
        heldGarbageBytes += segment.isHeld() ? bytes : 0;
        writtenBytes += bytes;
        copiedBytes += bytes;
    }

    /**
     * The block at a location, which an image has written, is the newest image of its page from now
     * on. Lock held.
     */
    void settle(long location) {
        Segment segment = segment(location);
        int bytes = Location.blockBytes(location);
        segment.liveBytes += bytes;
        liveBytes += bytes;
        heldGarbageBytes -= segment.isHeld() ? bytes : 0;
        settledBytes += bytes;
    }

    /** Nothing more comes into a segment. Lock held. */
    void seal(Segment segment) {
        segment.sealed = true;
        shortSegments += isShort(segment) ? 1 : 0;
    }

    /** Images end a segment that is not full yet. */
    boolean isShort(Segment segment) {
        return segment.end < segmentBytes / SHORT_PARTS;
    }

    /** Lock held. */
    int shortSegments() {
        return shortSegments;
    }

    /** Keeps the file of a location until {@link #unpin}. Lock held. */
    void pin(long location) {
        pinSegment(segment(location));
    }

    /** Lock held. */
    void pinSegment(Segment segment) {
        heldGarbageBytes += segment.isHeld() ? 0 : segment.garbageBytes();
        segment.pins++;
    }

    /** Lock held. */
    void unpin(long location) {
        unpinSegment(segment(location));
    }

    /** Lock held. */
    void unpinSegment(Segment segment) {
        segment.pins--;
        heldGarbageBytes -= segment.isHeld() ? 0 : segment.garbageBytes();
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
                            + SegmentFiles.fileName(Location.segment(location))
                            + " is gone though a page lies in it");
        }
        return segment;
    }

    private void deleteIfGarbage(Segment segment) {
        if (segment.isGarbage()
                && segment.unflushed.isEmpty()
                && segments.remove(segment.id) != null) {
            totalBytes -= segment.end;
            heldGarbageBytes -= segment.isAway ? segment.end : 0;
            shortSegments -= isShort(segment) ? 1 : 0;
            if (segment.file != null) {
                dead.delete(segment);
            }
        }
    }

    /**
     * Deletes a file for which the background had no time yet; false if there is none. Lock held,
     * and let go of meanwhile.
     */
    boolean deleteOneDead() {
        return dead.deleteOne();
    }

    /**
     * Reads the page at a location into memory and verifies it. The caller has pinned the location,
     * and does not hold the lock.
     */
    void read(long location, int pageId, long target) {
        Segment segment;
        lock.lock();
        try {
            check();
            segment = segment(location);
            WriteBuffer buffer = segment.unflushedAt(Location.offset(location));
            if (buffer != null) {
                if (!Block.restore(buffer.addressOf(Location.offset(location)), target)) {
                    throw new IllegalStateException("page " + pageId + " cannot be decompressed");
                }
                return;
            }
            readBytes += Location.blockBytes(location);
        } finally {
            lock.unlock();
        }
        try {
            files.read(segment, location, pageId, target);
        } catch (IOException e) {
            throw fail(segment.path, "cannot read", Location.offset(location), e);
        }
    }

    /** Reads a segment from front to back. The caller has pinned it, and does not hold the lock. */
    void visit(Segment segment, SegmentFiles.BlockVisitor visitor) {
        try {
            files.visit(segment, visitor);
        } catch (SegmentFiles.DamagedException e) {
            throw fail(segment.path, "cannot read", e.offset, e);
        }
    }

    /** Writes a buffer of a segment that is written to beside the streams. Lock not held. */
    void write(Segment segment, WriteBuffer buffer) throws IOException {
        files.write(segment, buffer);
    }

    /** Whether it is in use. Lock held. */
    boolean has(Segment segment) {
        return segments.get(segment.id) == segment;
    }

    /** Lock held. */
    Collection<Segment> segments() {
        return segments.values();
    }

    long liveBytes() {
        return liveBytes;
    }

    /** Of the segments in use. */
    long totalBytes() {
        return totalBytes;
    }

    /** In files that are to be deleted. */
    long deadBytes() {
        return dead.bytes();
    }

    /** In all files, with what is in write buffers yet. */
    long fileBytes() {
        return totalBytes + deadBytes();
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
        return hasFailed() || tasks.isClosed();
    }

    /**
     * Waits for background tasks, closes and deletes all files, frees the buffers. Lock not held.
     */
    void close() {
        lock.lock();
        try {
            tasks.close();
            deleteAll();
            freeBuffers();
        } finally {
            lock.unlock();
        }
    }

    private void deleteAll() {
        segments.values().forEach(segment -> segment.unflushed.clear());
        dead.deleteAll(segments.values());
        segments.clear();
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
