package io.afterbay.spark.publish;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;

/**
 * Where files are published. Called by several threads at once; calls may take long, and may be
 * interrupted. A call that was given up may still have its effect later.
 */
public interface Storage {
    /**
     * Writes a file that others see as a whole, or not at all.
     *
     * @param content read once to its end; the callee does not close it
     * @param overwrites whether a file of that name is replaced
     * @throws java.nio.file.FileAlreadyExistsException if there is one and it is not
     */
    void write(String target, InputStream content, boolean overwrites) throws IOException;

    /** Whether there is a file of that name. */
    boolean exists(String target) throws IOException;

    /** Whether the file is there with exactly the bytes of the local one. */
    boolean isSame(String target, Path local) throws IOException;

    /**
     * Whether {@link #stage} can be called: where a file appears by being renamed, most of the work
     * may be done before its turn.
     */
    default boolean canStage() {
        return false;
    }

    /**
     * Writes a file that nobody sees until it is revealed.
     *
     * @param content read once to its end; the callee does not close it
     * @param overwrites whether it will replace a file of that name
     */
    default Staged stage(String target, InputStream content, boolean overwrites)
            throws IOException {
        throw new UnsupportedOperationException(
                target + " cannot be staged: this storage says so by canStage");
    }
}
