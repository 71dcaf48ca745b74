package io.afterbay.spark.publish;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Files in the order in which they were submitted, and which of them may be published: the order of
 * docs/spark-commit.md. Guarded by the lock of its {@link Publisher}.
 *
 * <pre>
 *   offsets/7 | state state state | commits/7 | offsets/8 | state ...
 *      LOG    |   in any order    |    LOG    |    LOG    |
 * </pre>
 *
 * <p>A LOG file goes only from the front, and when its gate is open. A STATE file passes
 * everything.
 */
final class PublishQueue {
    /** Of the batches that are at work there are never more. */
    private static final int RECENT_MAX = 16;

    private final TreeMap<Long, PendingFile> files = new TreeMap<>();
    private final Map<String, PendingFile> byTarget = new HashMap<>();
    private final Deque<String> recentLog = new ArrayDeque<>();
    private long lastTicket;
    private long bytes;

    PendingFile add(
            Kind kind, String target, Path local, long size, boolean overwrites, Gate gate) {
        PendingFile file =
                new PendingFile(
                        ++lastTicket,
                        kind,
                        target,
                        local,
                        size,
                        overwrites,
                        byTarget.get(target),
                        gate);
        files.put(file.ticket, file);
        byTarget.put(target, file);
        bytes += size;
        return file;
    }

    /** The next to write, or null if none may be written now. */
    @Nullable PendingFile next(long now) {
        for (PendingFile file : files.values()) {
            if (mayRun(file) && file.nanosToNext(now) <= 0) {
                return file;
            }
        }
        return null;
    }

    /** Until {@link #next} may have one, if nothing else changes. */
    long nanosToNext(long now) {
        long nanos = Long.MAX_VALUE;
        for (PendingFile file : files.values()) {
            if (mayRun(file)) {
                nanos = Math.min(nanos, file.nanosToNext(now));
            }
        }
        return nanos;
    }

    private boolean mayRun(PendingFile file) {
        return file.writers == 0
                && (file.kind == Kind.STATE || (file.isReleased && files.firstKey() == file.ticket))
                && (file.lastVersion == null || file.lastVersion.isPublished);
    }

    /** It is published. */
    void remove(PendingFile file) {
        if (files.remove(file.ticket) != null) {
            file.isPublished = true;
            byTarget.remove(file.target, file);
            bytes -= file.bytes;
            if (file.kind == Kind.LOG) {
                remember(file.target);
            }
        }
    }

    private void remember(String target) {
        recentLog.addLast(target);
        if (recentLog.size() > RECENT_MAX) {
            recentLog.removeFirst();
        }
    }

    /** Whether it was one of the last log files that were published from here. */
    boolean wasPublished(String target) {
        return recentLog.contains(target);
    }

    /** Null if there are none. */
    @Nullable PendingFile front() {
        return files.isEmpty() ? null : files.firstEntry().getValue();
    }

    /** The last submitted of that name. */
    @Nullable PendingFile find(String target) {
        return byTarget.get(target);
    }

    Collection<PendingFile> files() {
        return files.values();
    }

    /** Whether nothing is left of that ticket and of those before. */
    boolean isPublished(long ticket) {
        return files.isEmpty() || files.firstKey() > ticket;
    }

    boolean hasRoom(long size, PublishSettings settings) {
        return files.isEmpty()
                || (files.size() < settings.entriesMax() && bytes + size <= settings.bytesMax());
    }

    /** 0 before the first. */
    long lastTicket() {
        return lastTicket;
    }

    int entries() {
        return files.size();
    }

    long bytes() {
        return bytes;
    }
}
