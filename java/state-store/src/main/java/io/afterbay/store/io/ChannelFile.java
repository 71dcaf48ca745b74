package io.afterbay.store.io;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A file behind one channel, and a second one for direct reads, of which a process has no more than
 * {@value #DIRECT_CHANNELS_MAX}: a store has many files, and descriptors are limited.
 */
final class ChannelFile implements LocalFile {
    private static final int DIRECT_CHANNELS_MAX = 1024;
    private static final AtomicInteger DIRECT_CHANNELS = new AtomicInteger();

    private final Path path;
    private final SteadyChannel channel;
    private volatile @Nullable SteadyChannel direct; // written under this
    private volatile boolean hasDirect = true; // until it is known better
    private boolean closed; // guarded by this

    private ChannelFile(Path path, SteadyChannel channel) {
        this.path = path;
        this.channel = channel;
    }

    /** A new file. */
    static ChannelFile create(Path path) throws IOException {
        FileChannel channel =
                FileChannel.open(
                        path,
                        StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE);
        return new ChannelFile(
                path,
                new SteadyChannel(
                        path, channel, StandardOpenOption.READ, StandardOpenOption.WRITE));
    }

    /** A file that exists; for reading. */
    static ChannelFile open(Path path) throws IOException {
        return new ChannelFile(path, SteadyChannel.open(path, StandardOpenOption.READ));
    }

    @Override
    public int write(ByteBuffer source, long position) throws IOException {
        return channel.write(source, position);
    }

    @Override
    public int read(ByteBuffer target, long position) throws IOException {
        return channel.read(target, position);
    }

    /** Where the file system knows no direct reads, or other alignments: as {@link #read}. */
    @Override
    public int readDirect(ByteBuffer target, long position) throws IOException {
        if (hasDirect && (direct != null || DIRECT_CHANNELS.get() < DIRECT_CHANNELS_MAX)) {
            int start = target.position();
            try {
                return direct().read(target, position);
            } catch (IOException | UnsupportedOperationException e) {
                target.position(start);
                hasDirect = false;
            }
        }
        return read(target, position);
    }

    private synchronized SteadyChannel direct() throws IOException {
        SteadyChannel present = direct;
        if (closed) {
            throw new ClosedChannelException();
        }
        if (present == null) {
            present = SteadyChannel.open(path, StandardOpenOption.READ, ExtendedOpenOption.DIRECT);
            direct = present;
            DIRECT_CHANNELS.incrementAndGet();
        }
        return present;
    }

    @Override
    public synchronized void close() throws IOException {
        SteadyChannel second = direct;
        closed = true;
        direct = null;
        try {
            channel.close();
        } finally {
            if (second != null) {
                DIRECT_CHANNELS.decrementAndGet();
                second.close();
            }
        }
    }
}
