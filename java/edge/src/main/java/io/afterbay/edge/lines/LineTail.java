package io.afterbay.edge.lines;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The lines of a file that grows, as they come. Only complete lines count, of what is committed;
 * when the file is complete, all of it counts. For one thread.
 */
public final class LineTail implements AutoCloseable {
    private static final int READ_BYTES = 1 << 16;

    private final GrowingFile source;
    private @Nullable FileChannel channel;
    private ByteBuffer buffer = ByteBuffer.allocate(READ_BYTES).flip();
    private long position;
    private boolean ended;

    public LineTail(GrowingFile source) {
        this.source = source;
    }

    /** The next line without its end; null if there is none now. */
    public byte @Nullable [] next() throws IOException {
        byte[] line = buffered();
        while (line == null && read()) {
            line = buffered();
        }
        return line == null && ended ? rest() : line;
    }

    /** Whether there will never be another line. */
    public boolean isEnded() {
        return ended && !buffer.hasRemaining();
    }

    private byte @Nullable [] buffered() {
        for (int i = buffer.position(); i < buffer.limit(); i++) {
            if (buffer.get(i) == '\n') {
                byte[] line = take(i - buffer.position());
                buffer.get();
                return line;
            }
        }
        return null;
    }

    private byte[] take(int length) {
        byte[] line = new byte[length];
        buffer.get(line);
        return line;
    }

    private byte @Nullable [] rest() {
        return buffer.hasRemaining() ? take(buffer.remaining()) : null;
    }

    /** Whether there was something to be read. */
    private boolean read() throws IOException {
        // Looked at first: what is written behind it would be missed otherwise.
        boolean complete = source.isComplete();
        FileChannel file = channel();
        if (file == null) {
            ended = complete;
            return false;
        }
        long available = limit(file, complete) - position;
        if (available <= 0) {
            ended = complete;
            return false;
        }
        buffer.compact();
        if (!buffer.hasRemaining()) {
            buffer = ByteBuffer.wrap(Arrays.copyOf(buffer.array(), 2 * buffer.capacity()));
            buffer.position(buffer.capacity() / 2);
        }
        int wanted = (int) Math.min(buffer.remaining(), available);
        buffer.limit(buffer.position() + wanted);
        position += Math.max(0, file.read(buffer, position));
        buffer.flip();
        return true;
    }

    private @Nullable FileChannel channel() throws IOException {
        if (channel == null && Files.exists(source.file())) {
            channel = FileChannel.open(source.file());
        }
        return channel;
    }

    private long limit(FileChannel file, boolean complete) throws IOException {
        Path committed = source.committed();
        if (committed == null || complete) {
            return file.size();
        }
        try {
            String digits = Files.readString(committed).strip();
            return digits.isEmpty() ? 0 : Math.min(file.size(), Long.parseLong(digits));
        } catch (NoSuchFileException e) {
            return 0;
        } catch (NumberFormatException e) {
            throw new IOException(committed + ": is no number of bytes", e);
        }
    }

    @Override
    public void close() throws IOException {
        if (channel != null) {
            channel.close();
        }
    }
}
