package io.afterbay.spark;

import io.afterbay.spark.CheckpointFiles.Role;
import io.afterbay.spark.publish.Gate;
import io.afterbay.spark.publish.PublishObserver;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;

/**
 * What this process and the others of the application tell each other of their files. This one is
 * for driver and executors in one process, where one queue sees all files of a batch.
 */
class Peers {
    /** Whether files of that kind are published behind their writer. */
    boolean publishes(Role role) {
        return role != Role.OTHER && role != Role.SOURCE_OTHER;
    }

    /** A state file is begun. */
    void created(String location, String target) {}

    /** A state file will not be published. */
    void cancelled(String target) {}

    /** Hears what is published to a checkpoint. */
    PublishObserver observer(String location) {
        return PublishObserver.NONE;
    }

    /**
     * Waits until a file of the log is in the storage.
     *
     * @throws IOException if that is too long, or will never be
     */
    void awaitPublished(Checkpoint checkpoint, String target) throws IOException {
        checkpoint.publisher().awaitPublished(target);
    }

    /**
     * Waits until no other process has anything to write to a checkpoint, or for that time.
     *
     * @return whether none has
     */
    boolean awaitIdle(String location, long nanosMax) throws InterruptedIOException {
        return true;
    }

    /** Whether state files that a commit names may be there later, since others publish them. */
    boolean haveState() {
        return false;
    }

    /**
     * What {@code commits/N} waits for beside what is before it in this process.
     *
     * @param local complete copy of the commit
     */
    Gate gate(String location, long batch, Path local) throws IOException {
        return Gate.OPEN;
    }
}
