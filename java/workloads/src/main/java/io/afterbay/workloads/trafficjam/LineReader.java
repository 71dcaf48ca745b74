package io.afterbay.workloads.trafficjam;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Lines of a stream together with the byte position behind each, from which reading can resume.
 * Lines end with LF or CR LF; bytes that are not UTF-8 become replacement characters. A line longer
 * than {@link #MAX_LINE_BYTES} is cut there, so that a file without line ends cannot fill the heap.
 */
final class LineReader {
    static final int MAX_LINE_BYTES = 1 << 16;

    private static final int BUFFER_BYTES = 1 << 16;

    private final InputStream in;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int start;
    private int end;
    private byte[] line = new byte[256];
    private int length;
    private long offset;

    LineReader(InputStream in, long offset) {
        this.in = in;
        this.offset = offset;
    }

    /** Bytes up to and including the end of the last line read. */
    long offset() {
        return offset;
    }

    /** The next line without its end, or null at the end of the stream. */
    @Nullable String next() throws IOException {
        length = 0;
        boolean any = false;
        while (start < end || fill()) {
            any = true;
            int lineEnd = indexOfLineEnd();
            append(lineEnd < 0 ? end : lineEnd);
            if (lineEnd >= 0) {
                skip(1);
                break;
            }
        }
        return any ? text() : null;
    }

    private boolean fill() throws IOException {
        start = 0;
        end = Math.max(0, in.read(buffer, 0, buffer.length));
        return end > 0;
    }

    private int indexOfLineEnd() {
        for (int i = start; i < end; i++) {
            if (buffer[i] == '\n') {
                return i;
            }
        }
        return -1;
    }

    private void append(int to) {
        int kept = Math.min(to - start, MAX_LINE_BYTES - length);
        if (length + kept > line.length) {
            line = Arrays.copyOf(line, Math.max(line.length * 2, length + kept));
        }
        System.arraycopy(buffer, start, line, length, kept);
        length += kept;
        skip(to - start);
    }

    private void skip(int bytes) {
        start += bytes;
        offset += bytes;
    }

    private String text() {
        int to = length > 0 && line[length - 1] == '\r' ? length - 1 : length;
        return new String(line, 0, to, StandardCharsets.UTF_8);
    }
}
