package io.afterbay.workloads.trafficjam;

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
final class ReplayableFile implements Closeable {
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
    static ReplayableFile create(String name, String header) throws TrafficJamException {
        ReplayableFile file = open(name, 0);
        file.write(header);
        file.flush();
        return file;
    }

    /** Continues a file at the length that a checkpoint remembered. */
    static ReplayableFile resume(String name, long length) throws TrafficJamException {
        ReplayableFile file = open(name, length);
        try {
            if (file.channel.size() < length) {
                throw new TrafficJamException(
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

    private static ReplayableFile open(String name, long length) throws TrafficJamException {
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
    void write(String line) throws TrafficJamException {
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
    long length() {
        return length;
    }

    void flush() throws TrafficJamException {
        drain(buffer.flip());
        buffer.clear();
    }

    /** Makes what was written survive a crash of the machine. */
    void sync() throws TrafficJamException {
        flush();
        try {
            channel.force(false);
        } catch (IOException e) {
            throw unwritable(e);
        }
    }

    private void drain(ByteBuffer bytes) throws TrafficJamException {
        try {
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
        } catch (IOException e) {
            throw unwritable(e);
        }
    }

    private TrafficJamException unwritable(IOException e) {
        return unwritable(name, e);
    }

    private static TrafficJamException unwritable(String name, IOException e) {
        if (e instanceof TrafficJamException known) {
            return known;
        }
        Path path = Path.of(name);
        if (Files.isDirectory(path)) {
            return new TrafficJamException(name + " is a directory; name a file in it", e);
        }
        if (e instanceof NoSuchFileException) {
            return new TrafficJamException(
                    name
                            + " cannot be written: there is no directory "
                            + path.toAbsolutePath().getParent()
                            + "; create it first",
                    e);
        }
        if (e instanceof AccessDeniedException) {
            return new TrafficJamException(
                    name + " cannot be written: permission denied; choose another place", e);
        }
        return new TrafficJamException(
                "%s cannot be written: %s; make room or choose another place"
                        .formatted(name, TrafficJamException.reason(e)),
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
    public void close() throws TrafficJamException {
        try (channel) {
            flush();
        } catch (IOException e) {
            throw unwritable(e);
        }
    }
}
