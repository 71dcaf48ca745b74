package io.afterbay.flink.incremental;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.jspecify.annotations.Nullable;

/**
 * A checkpoint that was begun, and which of its files are where. Guarded by the {@link
 * IncrementalSnapshots} that it belongs to.
 */
final class CheckpointFiles {
    final long id;

    /** Where the log goes on behind the base. */
    final long position;

    /** Null while it is being written. */
    @Nullable Base base;

    /** Of the log, as of this checkpoint. */
    final List<LogSegment> segments;

    /**
     * Whose base it is the first to have; null if it has that of another checkpoint, or its own.
     */
    Renewals.@Nullable Renewal renewal;

    /** Names of files that it has in common with the checkpoint that was the confirmed one. */
    final Set<String> reused = new HashSet<>();

    /** Its files by name; null until all are there. */
    @Nullable Map<String, StreamStateHandle> handles;

    CheckpointFiles(long id, long position, @Nullable Base base, List<LogSegment> segments) {
        this.id = id;
        this.position = position;
        this.base = base;
        this.segments = segments;
    }

    /** Whether it needs no other files than these. */
    boolean isUploaded() {
        return handles != null;
    }

    Map<String, StreamStateHandle> handles() {
        return handles == null ? Map.of() : handles;
    }

    Stream<String> baseNames() {
        return base == null ? Stream.empty() : base.names();
    }
}
