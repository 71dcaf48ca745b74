package io.afterbay.store.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/** An open file. Reads and writes at positions are thread safe. */
public interface LocalFile extends AutoCloseable {
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
     * Ends when all of the file is on this machine; exceptionally if it will not come, cancelled if
     * the file is closed before. Only an {@link ArrivingFile} is not there from the beginning.
     */
    default CompletableFuture<Void> arrival() {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    void close() throws IOException;
}
