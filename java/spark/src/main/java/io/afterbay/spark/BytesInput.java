package io.afterbay.spark;

import java.io.EOFException;
import java.io.IOException;
import org.apache.hadoop.fs.FSInputStream;

/** A file's content in memory, as Hadoop reads files. Used by one thread at a time. */
final class BytesInput extends FSInputStream {
    private final byte[] bytes;
    private int position;

    BytesInput(byte[] bytes) {
        this.bytes = bytes;
    }

    @Override
    public int read() {
        return position == bytes.length ? -1 : bytes[position++] & 0xff;
    }

    @Override
    public int read(byte[] buffer, int offset, int length) {
        int count = Math.min(length, bytes.length - position);
        if (count <= 0) {
            return length == 0 ? 0 : -1;
        }
        System.arraycopy(bytes, position, buffer, offset, count);
        position += count;
        return count;
    }

    @Override
    public void seek(long to) throws IOException {
        if (to < 0 || to > bytes.length) {
            throw new EOFException("position " + to + " of " + bytes.length + " bytes");
        }
        position = (int) to;
    }

    @Override
    public long getPos() {
        return position;
    }

    @Override
    public boolean seekToNewSource(long target) {
        return false;
    }
}
