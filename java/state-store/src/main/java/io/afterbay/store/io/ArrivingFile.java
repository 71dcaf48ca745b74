package io.afterbay.store.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A file whose content is elsewhere and comes here while it is read already: in chunks, in any
 * order.
 *
 * <pre>
 *   source:      0   1   2   3   4   5      chunks of {@value #CHUNK_BYTES} bytes
 *                ^           ^
 *                put         a reader fetches what it waits for
 *                |           |
 *   local file:  0   1   .   3   .   .      holes are chunks that are missing
 * </pre>
 *
 * <p>Somebody {@link #put puts} the missing chunks one by one. A read of chunks that are here is
 * one of the local file; a read of others first fetches them itself. Two threads may bring the same
 * chunk: it has the same bytes. What is read is verified by those who read, as that of any file.
 *
 * <p>The local file is created with the first chunk. No thread holds a lock while it waits for the
 * source, so that closing never waits for it; afterwards nobody touches the path any more.
 */
public final class ArrivingFile implements LocalFile {
    /** What is fetched at a time; positions of chunks are multiples of it. */
    public static final int CHUNK_BYTES = 64 << 10;

    private final LocalFiles files;
    private final Path path;
    private final long bytes;
    private final Source source;
    private final CompletableFuture<Void> arrival = new CompletableFuture<>();
    private volatile @Nullable LocalFile complete;

    // Guarded by this.
    private final BitSet here = new BitSet();
    private long missingBytes;
    private @Nullable LocalFile local;
    private @Nullable IOException failure;
    private boolean closed;

    /** Where the content is. Thread safe. */
    @FunctionalInterface
    public interface Source {
        /** Fills the target from a position on, for a reader who waits. */
        void read(ByteBuffer target, long position) throws IOException;
    }

    /**
     * @param path where it comes to; no such file exists
     * @param bytes of it, more than 0
     */
    public ArrivingFile(LocalFiles files, Path path, long bytes, Source source) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("%s has %d bytes".formatted(path, bytes));
        }
        this.files = files;
        this.path = path;
        this.bytes = bytes;
        this.source = source;
        this.missingBytes = bytes;
    }

    @Override
    public CompletableFuture<Void> arrival() {
        return arrival;
    }

    /** What is missing. */
    public synchronized long missingBytes() {
        return missingBytes;
    }

    /** Where the first missing chunk begins from a position on; -1 if there is none. */
    public synchronized long nextMissing(long position) {
        long at = here.nextClearBit(chunk(position)) * (long) CHUNK_BYTES;
        return at < bytes ? at : -1;
    }

    /** As {@link #nextMissing(long)}, of the chunks in a set; null for all. */
    public synchronized long nextMissing(long position, @Nullable BitSet chunks) {
        if (chunks == null) {
            return nextMissing(position);
        }
        int next = chunks.nextSetBit(chunk(position));
        while (next >= 0 && here.get(next)) {
            next = chunks.nextSetBit(next + 1);
        }
        long at = next * (long) CHUNK_BYTES;
        return next >= 0 && at < bytes ? at : -1;
    }

    /** The size of a chunk; the last one may be shorter. */
    public int chunkBytes(long position) {
        return (int) Math.min(CHUNK_BYTES, bytes - position);
    }

    private static int chunk(long position) {
        return (int) (position / CHUNK_BYTES);
    }

    @Override
    public int read(ByteBuffer target, long position) throws IOException {
        LocalFile all = complete;
        if (all != null) {
            return all.read(target, position);
        }
        if (position >= bytes) {
            return -1;
        }
        int wanted = (int) Math.min(target.remaining(), bytes - position);
        if (hereFrom(position) == 0) {
            fetch(position, wanted);
        }
        return readLocal(target, position, (int) Math.min(wanted, hereFrom(position)));
    }

    /** Bytes from a position on that are here, without a hole. */
    private synchronized long hereFrom(long position) {
        long end = here.nextClearBit(chunk(position)) * (long) CHUNK_BYTES;
        return Math.max(0, Math.min(end, bytes) - position);
    }

    private int readLocal(ByteBuffer target, long position, int length) throws IOException {
        int limit = target.limit();
        target.limit(target.position() + length);
        try {
            return local().read(target, position);
        } finally {
            target.limit(limit);
        }
    }

    /** Brings the missing chunks of a range, up to the first that is here. */
    private void fetch(long position, int length) throws IOException {
        long start = chunk(position) * (long) CHUNK_BYTES;
        long end = Math.min(endOfHole(position), position + length);
        long alignedEnd = Math.min((chunk(end - 1) + 1) * (long) CHUNK_BYTES, bytes);
        ByteBuffer content = ByteBuffer.allocate((int) (alignedEnd - start));
        try {
            source.read(content, start);
        } catch (IOException e) {
            if (hereFrom(position) > 0) {
                return; // somebody else had more luck
            }
            throw e;
        }
        put(content.flip(), start);
    }

    private synchronized long endOfHole(long position) throws IOException {
        checkUsable();
        int next = here.nextSetBit(chunk(position));
        return next < 0 ? bytes : next * (long) CHUNK_BYTES;
    }

    private void checkUsable() throws IOException {
        if (closed) {
            throw new IOException(path + ": it is closed");
        }
        if (failure != null) {
            throw new IOException(failure.getMessage(), failure);
        }
    }

    /**
     * Brings chunks.
     *
     * @param content whole ones, but for the end of the file
     * @throws IOException if it cannot be written, which {@link #fail fails} the file, or if it is
     *     closed
     */
    public void put(ByteBuffer content, long position) throws IOException {
        int length = content.remaining();
        try {
            write(local(), content, position);
        } catch (IOException e) {
            fail(e);
            throw e;
        }
        arrived(position, length);
    }

    private void write(LocalFile file, ByteBuffer content, long position) throws IOException {
        long at = position;
        try {
            while (content.hasRemaining()) {
                at += file.write(content, at);
            }
        } catch (IOException e) {
            throw new IOException(
                    "%s: cannot write at byte %d: %s %s"
                            .formatted(path, at, e.getMessage(), DiskAdvice.of(path)),
                    e);
        }
    }

    private synchronized LocalFile local() throws IOException {
        checkUsable();
        LocalFile present = local;
        if (present == null) {
            present = files.create(path);
            local = present;
        }
        return present;
    }

    private void arrived(long position, int length) {
        boolean isAll;
        synchronized (this) {
            for (long at = position; at < position + length; at += CHUNK_BYTES) {
                if (!here.get(chunk(at))) {
                    here.set(chunk(at));
                    missingBytes -= chunkBytes(at);
                }
            }
            isAll = missingBytes == 0;
            if (isAll) {
                complete = local;
            }
        }
        if (isAll) {
            arrival.complete(null); // without the lock: others act on it
        }
    }

    /**
     * What is missing will not come: reads of it throw this from now on. Without effect on a file
     * that is closed.
     */
    public void fail(IOException cause) {
        synchronized (this) {
            if (closed || failure != null) {
                return;
            }
            failure = cause;
        }
        arrival.completeExceptionally(cause);
    }

    @Override
    public int write(ByteBuffer content, long position) throws IOException {
        throw new IOException(path + ": it can only be read");
    }

    /** Whether it is of no use to go on. */
    public synchronized boolean isClosed() {
        return closed;
    }

    /** Cancels the {@link #arrival}, unless all is here. */
    @Override
    public void close() throws IOException {
        LocalFile present;
        synchronized (this) {
            closed = true;
            present = local;
        }
        arrival.cancel(false);
        if (present != null) {
            present.close();
        }
    }
}
