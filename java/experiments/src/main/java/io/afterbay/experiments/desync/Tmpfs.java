package io.afterbay.experiments.desync;

import io.afterbay.command.ByteSize;
import io.afterbay.command.CommandFailure;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;

/** A directory whose files are in memory: no disk makes anything wait (ShadowSync, section 5). */
final class Tmpfs {
    /** Where Linux has one. */
    static final String USUAL = "/dev/shm";

    /** What {@link FileStore#type} says. */
    private static final String TYPE = "tmpfs";

    private Tmpfs() {}

    /** What keeps the directory from being used, and the way out; empty if nothing does. */
    static String problem(Path directory, ByteSize needed) {
        if (!Files.isDirectory(directory)) {
            return directory + " is no directory; name one of a tmpfs, or leave --tmpfs out";
        }
        try {
            FileStore store = Files.getFileStore(directory);
            if (!TYPE.equals(store.type())) {
                return "%s is on %s; name a directory of a tmpfs, or use --work-dir for a disk"
                        .formatted(directory, store.type());
            }
            ByteSize free = new ByteSize(store.getUsableSpace());
            return free.bytes() >= needed.bytes()
                    ? ""
                    : "%s has %s left, and state and checkpoints need %s; make room, or mount a larger tmpfs and name it"
                            .formatted(directory, free, needed);
        } catch (IOException e) {
            return directory + ": " + CommandFailure.reason(e);
        }
    }
}
