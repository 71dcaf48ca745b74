package io.afterbay.cli.replay;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Tells whether a process of a replay lives: each holds a file of its own, which the system
 * releases when the process ends, however it does. For one thread.
 */
final class ReplayLock {
    private static final int ATTEMPTS = 40;
    private static final int PAUSE_MS = 50;

    private final Path directory;
    private @Nullable FileChannel own;
    private @Nullable Holder held;

    /** The processes. */
    enum Holder {
        /** The command that waits for the worker, from before the worker starts. */
        COMMAND("command.lock"),
        WORKER("worker.lock");

        private final String file;

        Holder(String file) {
            this.file = file;
        }
    }

    ReplayLock(Path directory) {
        this.directory = directory;
    }

    /**
     * Holds it until {@link #release}, or the end of this process; does nothing if it does already.
     *
     * @return false if another process does
     */
    boolean hold(Holder holder) throws IOException, InterruptedException {
        if (own != null) {
            return true;
        }
        FileChannel channel = open(holder);
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            if (channel.tryLock() != null) {
                own = channel;
                held = holder;
                return true;
            }
            Thread.sleep(PAUSE_MS); // whoever asks shares it for a moment
        }
        channel.close();
        return false;
    }

    void release() throws IOException {
        FileChannel channel = own;
        own = null;
        held = null;
        if (channel != null) {
            channel.close();
        }
    }

    /** Whether any of the processes lives. */
    boolean isHeld() throws IOException {
        return own != null || isHeldByAnother();
    }

    /** Whether any of the processes lives but this one. */
    boolean isHeldByAnother() throws IOException {
        for (Holder holder : Holder.values()) {
            // Another channel of this process to its own file, once closed, would release it.
            if (holder != held && isHeld(holder)) {
                return true;
            }
        }
        return false;
    }

    private boolean isHeld(Holder holder) throws IOException {
        try (FileChannel channel = open(holder);
                FileLock lock = channel.tryLock(0, Long.MAX_VALUE, true)) {
            return lock == null;
        }
    }

    private FileChannel open(Holder holder) throws IOException {
        return FileChannel.open(
                directory.resolve(holder.file),
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
    }
}
