package io.afterbay.store.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A file that survives interrupts. Java closes a {@link FileChannel}, for all threads, when a
 * thread that uses it is interrupted, as engines do to cancel a task. Here the channel is opened
 * anew, the transfer is repeated, and the thread's interrupt status is kept for those who wait for
 * it.
 */
final class ChannelFile implements LocalFile {
    private interface Transfer {
        int on(FileChannel channel) throws IOException;
    }

    private final Path path;
    private final Set<OpenOption> reopening;
    private FileChannel channel; // guarded by this; another one after each interrupt
    private boolean closed; // guarded by this

    private ChannelFile(Path path, FileChannel channel, OpenOption... reopening) {
        this.path = path;
        this.channel = channel;
        this.reopening = Set.of(reopening);
    }

    /** A new file. */
    static ChannelFile create(Path path) throws IOException {
        FileChannel channel =
                FileChannel.open(
                        path,
                        StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE);
        return new ChannelFile(path, channel, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    /** A file that exists; for reading. */
    static ChannelFile open(Path path) throws IOException {
        FileChannel channel = FileChannel.open(path, StandardOpenOption.READ);
        return new ChannelFile(path, channel, StandardOpenOption.READ);
    }

    @Override
    public int write(ByteBuffer source, long position) throws IOException {
        return transfer(source, open -> open.write(source, position));
    }

    @Override
    public int read(ByteBuffer target, long position) throws IOException {
        return transfer(target, open -> open.read(target, position));
    }

    private int transfer(ByteBuffer buffer, Transfer transfer) throws IOException {
        int start = buffer.position();
        boolean interrupted = Thread.interrupted(); // an interrupted thread would close the channel
        FileChannel broken = null;
        try {
            for (; ; ) {
                FileChannel open = open(broken);
                try {
                    return transfer.on(open);
                } catch (ClosedChannelException e) {
                    // By an interrupt of this thread or of another one. What was transferred does
                    // not count: the same bytes go to the same place again.
                    interrupted |= Thread.interrupted();
                    buffer.position(start);
                    broken = open;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** The channel in use, replaced if it is {@code broken}. */
    private synchronized FileChannel open(@Nullable FileChannel broken) throws IOException {
        if (closed) {
            throw new ClosedChannelException();
        }
        if (channel == broken) {
            channel = FileChannel.open(path, reopening);
        }
        return channel;
    }

    @Override
    public synchronized void close() throws IOException {
        closed = true;
        channel.close();
    }
}
