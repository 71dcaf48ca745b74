package io.afterbay.experiments.desync;

import io.afterbay.command.CommandFailure;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * Debian's libeatmydata: in a process that it is preloaded to, {@code fsync} and {@code fdatasync}
 * do nothing, whoever calls them. RocksDB syncs six times for the flush and the snapshot of a
 * checkpoint, and its Java interface has nothing to switch that off (ADR 0043).
 */
final class UnsyncedFiles {
    private static final String LIBRARY = "libeatmydata.so";
    private static final Path LIBRARIES = Path.of("/usr/lib");
    private static final Path MAPS = Path.of("/proc/self/maps");

    private UnsyncedFiles() {}

    /** Empty if it is not installed. */
    static Optional<Path> library() {
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(LIBRARIES, "*-linux-gnu*")) {
            for (Path folder : folders) {
                Path library = folder.resolve(LIBRARY);
                if (Files.exists(library)) {
                    return Optional.of(library);
                }
            }
        } catch (IOException e) {
            return Optional.empty(); // no such system
        }
        return Optional.empty();
    }

    /**
     * What a process needs to have it.
     *
     * @throws CommandFailure if it is not installed
     */
    static Map<String, String> environment() throws CommandFailure {
        return Map.of(
                "LD_PRELOAD",
                library().orElseThrow(() -> new CommandFailure(missing())).toString());
    }

    /** Names the way out. */
    static String missing() {
        return "needs %s, which is not in a folder of %s; on Debian: apt-get install libeatmydata1"
                .formatted(LIBRARY, LIBRARIES);
    }

    /** A library that cannot be preloaded is no error of the system's. */
    static void checkLoaded() throws CommandFailure, IOException {
        if (!Files.readString(MAPS).contains(LIBRARY)) {
            throw new CommandFailure(LIBRARY + " was not preloaded: files are synced as ever");
        }
    }
}
