package io.afterbay.store.page;

import io.afterbay.store.io.LocalFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One file of the segment log. Guarded by the log's lock. */
final class Segment {
    /** Magic, version, segment id, padding; see {@code spec/state-log.md}. */
    static final int HEADER_BYTES = 32;

    static final long MAGIC = 0x31474f4c53424146L; // "FABSLOG1" in little endian

    static final int VERSION = 2;

    final int id;
    final Path path;
    @Nullable LocalFile file;

    /** Where the next block goes. */
    long end = HEADER_BYTES;

    /** Bytes of blocks that are the newest image of their page. */
    long liveBytes;

    /** Snapshots and running reads that need the file. */
    int pins;

    /** Adopted, and not all of it has arrived and been looked at. */
    boolean isAway;

    boolean sealed;
    final List<WriteBuffer> unflushed = new ArrayList<>(2);

    Segment(int id, Path path) {
        this.id = id;
        this.path = path;
    }

    long garbageBytes() {
        return end - liveBytes;
    }

    /** Whether the file stays as it is for now, so that compaction can free nothing of it. */
    boolean isHeld() {
        return pins > 0 || isAway;
    }

    boolean isGarbage() {
        return sealed && liveBytes == 0 && pins == 0;
    }

    @Nullable WriteBuffer unflushedAt(long offset) {
        for (WriteBuffer buffer : unflushed) {
            if (buffer.holds(offset)) {
                return buffer;
            }
        }
        return null;
    }
}
