package io.afterbay.flink.incremental;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.util.IOUtils;

/**
 * Files in checkpoint storage, read at any place. Streams stay open for the next read, {@value
 * #IDLE_MAX} of them at most; beyond these there is one for each thread that reads. Thread safe.
 */
final class RemoteStreams implements Closeable {
    private static final int IDLE_MAX = 8;

    private final Map<String, StreamStateHandle> handles;
    private final CloseableRegistry open = new CloseableRegistry();
    private final Deque<Stream> idle = new ArrayDeque<>(); // guarded by itself
    private boolean keepsNone; // guarded by idle
    private final AtomicLong readBytes = new AtomicLong();

    /** A stream of a file. Used by one thread at a time. */
    record Stream(String name, FSDataInputStream in) {}

    /**
     * @param handles by the names of files
     */
    RemoteStreams(Map<String, StreamStateHandle> handles) {
        this.handles = handles;
    }

    /** The stream of a file; one that was given back, or a new one. */
    Stream take(String name) throws IOException {
        synchronized (idle) {
            for (Iterator<Stream> all = idle.iterator(); all.hasNext(); ) {
                Stream stream = all.next();
                if (stream.name.equals(name)) {
                    all.remove();
                    return stream;
                }
            }
        }
        StreamStateHandle handle = handles.get(name);
        if (handle == null) {
            throw new IOException("the checkpoint has no file " + name);
        }
        FSDataInputStream in = handle.openInputStream();
        open.registerCloseable(in); // or closes it, if all are closed
        return new Stream(name, in);
    }

    /** For the next read. */
    void giveBack(Stream stream) {
        Stream oldest;
        synchronized (idle) {
            idle.addFirst(stream);
            oldest = keepsNone || idle.size() > IDLE_MAX ? idle.removeLast() : null;
        }
        if (oldest != null) {
            drop(oldest);
        }
    }

    /** Few reads will come, or none: streams hold connections that others want. May take long. */
    void closeIdle() {
        List<Stream> left;
        synchronized (idle) {
            keepsNone = true;
            left = List.copyOf(idle);
            idle.clear();
        }
        left.forEach(this::drop);
    }

    /** One that is not to be used again. */
    void drop(Stream stream) {
        if (open.unregisterCloseable(stream.in)) {
            IOUtils.closeQuietly(stream.in);
        }
    }

    /** Fills the target. */
    void read(Stream stream, ByteBuffer target, long position) throws IOException {
        if (stream.in.getPos() != position) {
            stream.in.seek(position);
        }
        while (target.hasRemaining()) {
            int read =
                    stream.in.read(
                            target.array(),
                            target.arrayOffset() + target.position(),
                            target.remaining());
            if (read < 0) {
                throw new EOFException(
                        "%s ends at byte %d".formatted(stream.name, position + target.position()));
            }
            target.position(target.position() + read);
            readBytes.addAndGet(read);
        }
    }

    /** Read since the beginning. */
    long readBytes() {
        return readBytes.get();
    }

    /** Ends reads that are under way, as far as the storage lets them end. */
    @Override
    public void close() throws IOException {
        open.close();
    }
}
