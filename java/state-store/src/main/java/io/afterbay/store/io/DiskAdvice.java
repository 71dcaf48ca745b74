package io.afterbay.store.io;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** What a message says of a disk that does not take a write: how full it is, and the way out. */
public final class DiskAdvice {
    private DiskAdvice() {}

    /**
     * To be put behind the reason.
     *
     * @param file on that disk, which may be gone
     */
    public static String of(Path file) {
        return "("
                + room(file)
                + ": make room, or configure a local directory on a larger disk; else check its"
                + " health and permissions)";
    }

    private static String room(Path file) {
        Path present = file.toAbsolutePath();
        try {
            while (!Files.exists(present)) {
                @Nullable Path parent = present.getParent();
                if (parent == null) {
                    return "nothing of its path exists";
                }
                present = parent;
            }
            FileStore disk = Files.getFileStore(present);
            return "%d of %d bytes are free on this disk"
                    .formatted(disk.getUsableSpace(), disk.getTotalSpace());
        } catch (IOException e) {
            return "how full this disk is cannot be told: " + e.getMessage();
        }
    }
}
