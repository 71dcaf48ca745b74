package io.afterbay.spark.publish;

import java.io.IOException;

/**
 * A file that lies in a {@link Storage} in full and that nobody sees. Called by one thread at a
 * time; calls may take long, and may be interrupted.
 */
public interface Staged {
    /**
     * Others see it as a whole from now on. Called once: whether it had its effect is not known
     * after a failure.
     *
     * @throws java.nio.file.FileAlreadyExistsException if there is one of its name that it does not
     *     replace
     */
    void reveal() throws IOException;

    /** Removes what is left of it, if it can; nobody will see it. */
    void discard();
}
