package io.afterbay.workloads.run;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A text file that is exact after failures: a checkpoint remembers its length, a restart cuts off
 * what was written since, and the lines are written again. One writer.
 */
public final class ReplayableFile implements Closeable {
    private static final int BUFFER_BYTES = 1 << 16;

    private final String name;
    private final FileChannel channel;
    private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
    private long length;

    private ReplayableFile(String name, FileChannel channel, long length) {
        this.name = name;
        this.channel = channel;
        this.length = length;
    }

    /** Creates the file, or empties it. */
    public static ReplayableFile create(String name, String header) throws WorkloadException {
        ReplayableFile file = open(name, 0);
        file.write(header);
        file.flush();
        return file;
    }

    /** Continues a file at the length that a checkpoint remembered. */
    public static ReplayableFile resume(String name, long length) throws WorkloadException {
        ReplayableFile file = open(name, length);
        try {
            if (file.channel.size() < length) {
                throw new WorkloadException(
                        "%s held %d bytes at the last checkpoint, fewer now; start the job anew"
                                .formatted(name, length));
            }
            file.channel.truncate(length).position(length);
            return file;
        } catch (IOException e) {
            file.abandon();
            throw file.unwritable(e);
        }
    }

    private static ReplayableFile open(String name, long length) throws WorkloadException {
        Path path = Path.of(name);
        try {
            FileChannel channel =
                    length == 0
                            ? FileChannel.open(
                                    path,
                                    StandardOpenOption.CREATE,
                                    StandardOpenOption.WRITE,
                                    StandardOpenOption.TRUNCATE_EXISTING)
                            : FileChannel.open(path, StandardOpenOption.WRITE);
            return new ReplayableFile(name, channel, length);
        } catch (IOException e) {
            throw unwritable(name, e);
        }
    }

    /** Appends a line. It reaches the file with the next {@link #flush}, or earlier. */
    public void write(String line) throws WorkloadException {
        byte[] bytes = (line + "\n").getBytes(StandardCharsets.UTF_8);
        if (bytes.length > buffer.remaining()) {
            flush();
        }
        if (bytes.length > buffer.capacity()) {
            drain(ByteBuffer.wrap(bytes));
        } else {
            buffer.put(bytes);
        }
        length += bytes.length;
    }

    /** Bytes written, flushed or not. */
    public long length() {
        return length;
    }

    public void flush() throws WorkloadException {
        drain(buffer.flip());
        buffer.clear();
    }

    /** Makes what was written survive a crash of the machine. */
    public void sync() throws WorkloadException {
        flush();
        try {
            channel.force(false);
        } catch (IOException e) {
            throw unwritable(e);
        }
    }

    private void drain(ByteBuffer bytes) throws WorkloadException {
        try {
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
        } catch (IOException e) {
            throw unwritable(e);
        }
    }

    private WorkloadException unwritable(IOException e) {
        return unwritable(name, e);
    }

    private static WorkloadException unwritable(String name, IOException e) {
        if (e instanceof WorkloadException known) {
            return known;
        }
        Path path = Path.of(name);
        if (Files.isDirectory(path)) {
            return new WorkloadException(name + " is a directory; name a file in it", e);
        }
        if (e instanceof NoSuchFileException) {
            return new WorkloadException(
                    name
                            + " cannot be written: there is no directory "
                            + path.toAbsolutePath().getParent()
                            + "; create it first",
                    e);
        }
        if (e instanceof AccessDeniedException) {
            return new WorkloadException(
                    name + " cannot be written: permission denied; choose another place", e);
        }
        return new WorkloadException(
                "%s cannot be written: %s; make room or choose another place"
                        .formatted(name, WorkloadException.reason(e)),
                e);
    }

    private void abandon() {
        try {
            channel.close();
        } catch (IOException e) {
            // The failure that led here is the one to report.
        }
    }

    @Override
    public void close() throws WorkloadException {
        try (channel) {
            flush();
        } catch (IOException e) {
            throw unwritable(e);
        }
    }
}
