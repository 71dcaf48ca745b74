package io.afterbay.doctor.reading;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** How much of all files is read: a bar, and figures. */
final class ReadingProgress {
    private static final int WIDTH = 24;
    private static final double MIB = 1 << 20;

    private final int files;
    private final long allBytes;
    private int file;
    private long bytes;

    /** Of files with sizes as they are now; what cannot be looked at counts as empty. */
    ReadingProgress(List<Path> files) {
        this.files = files.size();
        this.allBytes = files.stream().mapToLong(ReadingProgress::size).sum();
    }

    private static long size(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            return 0; // said when it is opened
        }
    }

    void beginFile() {
        file++;
    }

    void read(long more) {
        bytes += more;
    }

    /**
     * As in {@code [######..................] 25 %, 256 of 1,024 MiB, log 3 of 16, 9,876 events};
     * of pipes, which have no size, without a bar.
     */
    String text(long events) {
        return String.format(
                Locale.ROOT,
                "%s, log %d of %d, %,d events",
                allBytes == 0 ? String.format(Locale.ROOT, "%,.0f MiB", bytes / MIB) : bar(),
                file,
                files,
                events);
    }

    private String bar() {
        double part = Math.min(1, (double) bytes / allBytes); // logs in use grow
        int full = (int) (WIDTH * part);
        return String.format(
                Locale.ROOT,
                "[%s%s] %3.0f %%, %,.0f of %,.0f MiB",
                "#".repeat(full),
                ".".repeat(WIDTH - full),
                Math.floor(100 * part),
                bytes / MIB,
                Math.max(bytes, allBytes) / MIB);
    }
}
