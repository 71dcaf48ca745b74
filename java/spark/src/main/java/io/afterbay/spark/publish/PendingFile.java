package io.afterbay.spark.publish;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A file that is submitted and not published. Guarded by the lock of its {@link Publisher}. */
final class PendingFile {
    final long ticket;
    final Kind kind;
    final String target;
    final Path local;
    final long bytes;
    final boolean overwrites;

    /** Of the same name; written before this one, which has to stay. */
    final @Nullable PendingFile lastVersion;

    final Gate gate;

    int failures;

    /** Threads that write it now. */
    int writers;

    /** In the storage, and not seen. */
    @Nullable Staged staged;

    /** Two have written it at the same time. */
    boolean isHedged;

    boolean isPublished;

    /** Its gate has opened. */
    boolean isReleased;

    /** With {@link #failures}: when it may be tried again. */
    long notBeforeNanos;

    PendingFile(
            long ticket,
            Kind kind,
            String target,
            Path local,
            long bytes,
            boolean overwrites,
            @Nullable PendingFile lastVersion,
            Gate gate) {
        this.ticket = ticket;
        this.kind = kind;
        this.target = target;
        this.local = local;
        this.bytes = bytes;
        this.overwrites = overwrites;
        this.lastVersion = lastVersion;
        this.gate = gate;
    }

    /** 0 or less: now. */
    long nanosToNext(long now) {
        return failures == 0 ? 0 : notBeforeNanos - now;
    }
}
