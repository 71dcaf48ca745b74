package io.afterbay.store.io;

import java.io.IOException;
import java.nio.ByteBuffer;

/** An open file. Reads and writes at positions are thread safe. */
public interface LocalFile extends AutoCloseable {
    /** Of direct reads, in bytes. */
    int DIRECT_ALIGNMENT = 4096;

    /**
     * Writes some of the remaining bytes at {@code position} and returns how many, at least one; a
     * caller loops.
     */
    int write(ByteBuffer source, long position) throws IOException;

    /**
     * Reads some bytes from {@code position} and returns how many, or -1 at the end of the file.
     */
    int read(ByteBuffer target, long position) throws IOException;

    /**
     * As {@link #read}, but past the cache of the operating system where the file system can do
     * that. Position, remaining bytes and the address of the buffer's position are multiples of
     * {@link #DIRECT_ALIGNMENT}.
     */
    default int readDirect(ByteBuffer target, long position) throws IOException {
        return read(target, position);
    }

    @Override
    void close() throws IOException;
}
