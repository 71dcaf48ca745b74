package io.afterbay.doctor.reading;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;

/**
 * Lines of any length from a stream, in memory that does not grow: what is longer than RocksDB ever
 * writes (64 KiB, {@code logging/env_logger.h}) is cut.
 */
final class LogLines implements Closeable {
    static final int MAX_LENGTH = 1 << 16;

    private final InputStream in;
    private final byte[] buffer = new byte[1 << 16];
    private final byte[] line = new byte[MAX_LENGTH];
    private int position;
    private int limit;
    private int length;
    private boolean isCut;
    private long bytes;

    LogLines(InputStream in) {
        this.in = in;
    }

    /** Goes to the next line, without its end; false if there is none. */
    boolean next() throws IOException {
        length = 0;
        isCut = false;
        boolean any = false;
        while (position < limit || fill()) {
            any = true;
            int end = endOfLine();
            append(position, end);
            position = end + 1;
            if (end < limit) {
                return true;
            }
            position = limit;
        }
        return any;
    }

    private boolean fill() throws IOException {
        position = 0;
        limit = Math.max(0, in.read(buffer));
        bytes += limit;
        return limit > 0;
    }

    private int endOfLine() {
        int end = position;
        while (end < limit && buffer[end] != '\n') {
            end++;
        }
        return end;
    }

    private void append(int from, int to) {
        int fits = Math.min(to - from, MAX_LENGTH - length);
        System.arraycopy(buffer, from, line, length, fits);
        length += fits;
        isCut |= fits < to - from;
    }

    /** The line is within 0 and {@link #length()}; it changes with the next one. */
    byte[] line() {
        return line;
    }

    int length() {
        return length;
    }

    /** Whether the line was longer than is kept. */
    boolean isCut() {
        return isCut;
    }

    /** Read so far. */
    long bytes() {
        return bytes;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
